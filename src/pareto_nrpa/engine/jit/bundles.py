"""Bundles of arrays, passed to compiled code as one pointer.

Python holds a table: the address and the shape of every array of the bundle, the address of every number. Compiled
code gets the address of the table, and creates a view of an array where an attribute is used. A view has no owner, so
no references are counted: Python holds the arrays. By value, thirty arrays are 200 arguments of each call.

A bundle is a named tuple, and a table is valid as long as the tuple exists: its arrays do not move. Replacing an array
creates another tuple (`_replace`). With compiling switched off, kernels take the tuple itself.
"""

from __future__ import annotations

import hashlib
from typing import Any, TypeVar

import numba
import numpy as np
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    intrinsic,
    lower_getattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)

Class = TypeVar("Class", bound=type)

#: Whether compiling is switched off (NUMBA_DISABLE_JIT).
JIT_IS_OFF: bool = numba.config.DISABLE_JIT  # type: ignore[attr-defined]  # set when Numba is loaded
_typeof: Any = numba.typeof
#: Functions of this module generate code: `kernels.fingerprint` includes the text of the module instead of theirs.
__generates_code__ = True


class BundleType(types.Type):
    """The type of a pointer to a bundle: names, types and places in the table of its fields."""

    def __init__(self, name: str, fields: dict[str, Any]) -> None:
        self.fields: dict[str, tuple[int, Any]] = {}
        place = 0
        for field, kind in fields.items():
            self.fields[field] = place, kind
            place += _n_cells(kind)
        digest = hashlib.sha256(str(sorted(self.fields.items())).encode()).hexdigest()
        super().__init__(name=f"{name}_{digest[:12]}")


def _n_cells(kind: Any) -> int:
    """Return the number of table cells of a field."""
    if isinstance(kind, types.Array):
        return 1 + kind.ndim * (1 if kind.layout == "C" else 2)
    if isinstance(kind, BundleType | types.BaseTuple):
        return sum(map(_n_cells, _parts(kind)))
    if isinstance(kind, types.Number | types.Boolean):
        return 1
    if isinstance(kind, types.NoneType):
        return 0
    raise ValueError(f"a field is of type {kind}")


def _parts(kind: Any) -> list[Any]:
    """Return the types of the fields of a bundle or tuple."""
    return [part for _, part in kind.fields.values()] if isinstance(kind, BundleType) else list(kind.types)


class Pointer:
    """The argument for a bundle in compiled code; keeps all objects that the table refers to alive."""

    __slots__ = ("_kept", "_numba_type_", "address")

    def __init__(self, bundle: Any, kind: BundleType) -> None:
        cells: list[int] = []
        kept: list[Any] = [bundle]
        _describe(bundle, kind, cells, kept)
        table = np.array(cells, dtype=np.int64)
        self._kept = kept, table
        self._numba_type_ = kind  # where Numba finds the type of an object directly
        self.address: int = table.ctypes.data


def _describe(value: Any, kind: Any, cells: list[int], kept: list[Any]) -> None:
    """Add the cells of a field to a table."""
    if isinstance(kind, BundleType | types.BaseTuple):
        for element, part in zip(value, _parts(kind), strict=True):
            _describe(element, part, cells, kept)
        return
    if isinstance(kind, types.NoneType):
        return
    if not isinstance(kind, types.Array):
        value = np.array(value, dtype=str(kind))
        kept.append(value)
        cells.append(value.ctypes.data)
        return
    cells += [value.ctypes.data, *value.shape, *(() if kind.layout == "C" else value.strides)]


class Bundle:
    """Base class of named tuples of arrays that compiled code takes as one pointer."""

    @property
    def pointer(self) -> Pointer:
        """The argument for compiled code, created once per tuple."""
        made: Pointer | None = self.__dict__.get("_pointer")
        if made is None:
            made = self.__dict__["_pointer"] = Pointer(self, _typeof(self))
        return made

    @property
    def address(self) -> int:
        """The address of the table."""
        return self.pointer.address

    def __reduce__(self) -> Any:
        return type(self), tuple(self)  # type: ignore[arg-type]  # without the pointer, which means nothing elsewhere


def bundle(named_tuple: Class) -> Class:
    """Make a class of named tuples a bundle."""
    words = {"__module__": named_tuple.__module__, "__qualname__": named_tuple.__qualname__}
    words["__doc__"] = named_tuple.__doc__ or ""
    return type(named_tuple.__name__, (Bundle, named_tuple), words)  # type: ignore[return-value]  # a class made by a call


@typeof_impl.register(Bundle)
def _typeof_bundle(value: Any, context: Any) -> BundleType:
    fields = {name: _typeof(field) for name, field in zip(value._fields, value, strict=True)}
    return BundleType(type(value).__name__, fields)


@register_model(BundleType)
class _PointerModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: BundleType) -> None:
        super().__init__(manager, kind, manager.lookup(types.int64).get_value_type().as_pointer())


@unbox(BundleType)
def _unbox_pointer(kind: BundleType, value: Any, c: Any) -> NativeValue:
    number = c.pyapi.object_getattr_string(value, "address")
    address = c.pyapi.long_as_longlong(number)
    c.pyapi.decref(number)
    return NativeValue(c.builder.inttoptr(address, c.context.get_value_type(kind)))


@infer_getattr
class _BundleAttributes(AttributeTemplate):
    key = BundleType

    def resolve(self, kind: BundleType, name: str) -> Any:
        """Return the type of an attribute, or None."""
        return kind.fields[name][1] if name in kind.fields else None


@lower_getattr_generic(BundleType)
def _load_attribute(context: Any, builder: Any, kind: BundleType, table: Any, name: str) -> Any:
    place, field = kind.fields[name]
    return _load(context, builder, field, table, place)


def _load(context: Any, builder: Any, kind: Any, table: Any, place: int) -> Any:
    """Return a field of the bundle whose table is at an address."""

    def cell(position: int) -> Any:
        where = builder.gep(table, [context.get_constant(types.intp, place + position)])
        loaded = builder.load(where)
        # Tables are constant: LLVM need not load again after a write to an array.
        loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
        return loaded

    if isinstance(kind, BundleType):
        return builder.gep(table, [context.get_constant(types.intp, place)])
    if isinstance(kind, types.BaseTuple):
        elements = []
        for part in _parts(kind):
            elements.append(_load(context, builder, part, table, place))
            place += _n_cells(part)
        return context.make_tuple(builder, kind, elements)
    if isinstance(kind, types.Array):
        return _view(context, builder, kind, cell)
    if isinstance(kind, types.NoneType):
        return context.get_dummy_value()
    where = builder.inttoptr(cell(0), context.get_data_type(kind).as_pointer())
    return context.unpack_value(builder, kind, where)


def _view(context: Any, builder: Any, kind: Any, cell: Any) -> Any:
    """Return an array without an owner."""
    array = cgutils.create_struct_proxy(kind)(context, builder)
    size = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    shape = [cell(1 + axis) for axis in range(kind.ndim)]
    strides = [cell(1 + kind.ndim + axis) for axis in range(kind.ndim)] if kind.layout != "C" else []
    n_items = context.get_constant(types.intp, 1)
    for length in reversed(shape):
        if kind.layout == "C":
            strides.insert(0, builder.mul(n_items, size))
        n_items = builder.mul(n_items, length)
    array.meminfo = context.get_constant_null(types.MemInfoPointer(kind.dtype))
    array.parent = context.get_constant_null(types.pyobject)
    array.nitems = n_items
    array.itemsize = size
    array.data = builder.inttoptr(cell(0), context.get_data_type(kind.dtype).as_pointer())
    array.shape = cgutils.pack_array(builder, shape, ty=context.get_value_type(types.intp))
    array.strides = cgutils.pack_array(builder, strides, ty=context.get_value_type(types.intp))
    return array._getvalue()  # noqa: SLF001 - part of Numba's interface for extensions


@intrinsic
def _unpacked(typing: Any, kind: Any) -> Any:
    fields = list(kind.fields.values())

    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        values = [_load(context, builder, field, arguments[0], place) for place, field in fields]
        return context.make_tuple(builder, signature.return_type, values)

    return types.Tuple([field for _, field in fields])(kind), make


@intrinsic
def _borrowed(typing: Any, kind: Any) -> Any:
    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _without_owner(context, builder, kind, arguments[0])

    return kind(kind), make


def _without_owner(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    if isinstance(kind, types.Array):
        array = cgutils.create_struct_proxy(kind)(context, builder, value=value)
        array.meminfo = context.get_constant_null(types.MemInfoPointer(kind.dtype))
        return array._getvalue()  # noqa: SLF001
    if isinstance(kind, types.BaseTuple):
        elements = cgutils.unpack_tuple(builder, value, len(_parts(kind)))
        owned = [_without_owner(context, builder, part, x) for part, x in zip(_parts(kind), elements, strict=True)]
        return context.make_tuple(builder, kind, owned)
    return value


@intrinsic
def _keep(typing: Any, kind: Any) -> Any:
    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.get_dummy_value()

    return types.none(kind), make


def _itself(value: Any) -> Any:
    return value


#: All fields of a bundle as a plain tuple.
unpacked: Any = _itself if JIT_IS_OFF else _unpacked
#: A bundle created by a kernel, for calls without reference counting; `keep` must follow the last of them.
borrowed: Any = _itself if JIT_IS_OFF else _borrowed
#: Ends the lifetime of a borrowed bundle.
keep: Any = _itself if JIT_IS_OFF else _keep
