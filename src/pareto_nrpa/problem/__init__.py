"""Problems: base classes, builders and checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._util.lazy import lazy_names

if TYPE_CHECKING:
    from .segments import END as END
    from .segments import START as START

__getattr__ = lazy_names(__name__, {"START": "segments", "END": "segments"})
