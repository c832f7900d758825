"""All compiled code of the package: arrays in, arrays out, no knowledge of any problem."""

from .kernels import kernel as kernel
