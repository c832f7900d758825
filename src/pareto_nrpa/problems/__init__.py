"""Problems that come with the package, and `load`, which gives one by name, file or generator spec."""

from .catalogue import DEFAULT as DEFAULT
from .catalogue import load as load
