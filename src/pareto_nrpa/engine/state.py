"""The state of searches and their parts: saving, restoring, copying and sending.

A class lists in `STATE` the attributes that make up its state, each with a form; those of its base classes count too.
A NamedTuple annotates its fields with forms; fields without one are working memory, which is not saved. A form is

    "float", "int", "bool", "str"    a number or text; "int < P": a number from 0 to P - 1
    "value", "values [N]"            a move or a code of a plain problem, and a list of them
    "i8 [R, 4] < P V+1 -1:T *"       an array: its kind, its shape (=: as in a new search, *: any length), the
                                     bounds of its columns (the last one counts for those after it; * is none,
                                     low:high begins elsewhere than at 0)
    "ints [N]", "floats [N, M]"      an array where Python works with lists
    "rng", "component"               a generator; an object with `STATE` of its own
    a NamedTuple                     a record, also in the place of an object that has its fields
    [form], {form: form}, Maybe(form)    a list (of components: the same ones), a dictionary, a form or None

Names in shapes and bounds stand for numbers: those given by the search (`state_sizes`), else the length of the first
array with that name, which all others must share. A restored state has these forms, so no index exceeds its array;
further conditions are checked by the method `restored` of a component. Nothing is unpickled.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from contextlib import contextmanager
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

import numpy as np

from .._util.checks import short, shown
from .._util.files import write_atomically
from ..errors import CheckpointError, ParetoNRPAError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

#: dict | list | ndarray | number | str | None
Tree = Any
Sizes = dict[str, "int | str | None"]

_BEGINNING = b"pareto-nrpa checkpoint 7\n"
_SUM_SIZE = hashlib.sha256().digest_size
_SCALARS: dict[str, type] = {"int": int, "float": float, "bool": bool, "str": str}
_NAMES = {kind: name for name, kind in _SCALARS.items()}
_KINDS: dict[str, Any] = {"i8": np.dtype("<i8"), "f8": np.dtype("<f8"), "u4": np.dtype("<u4"), "b1": np.dtype("?")}
_LISTS = {"ints": _KINDS["i8"], "floats": _KINDS["f8"]}
_KINDS |= _LISTS
_ARRAY = "$"


class Maybe(NamedTuple):
    """The form of a value that may be None."""

    form: Any


class _Damaged(ValueError):
    """A state that violates its form; the message names the part."""


class _Form(NamedTuple):
    kind: str
    shape: tuple[str, ...]
    bounds: tuple[str, ...]


@cache
def _parsed(form: str) -> _Form:
    found = re.fullmatch(r"(\w+)(?: \[(.*?)\])?(?: < (.+))?", form)
    assert found, f"not a form: {form}"
    kind, shape, bounds = found.groups()
    return _Form(kind, tuple(shape.split(", ")) if shape else (), tuple(bounds.split()) if bounds else ())


@cache
def _declared(kind: Any) -> dict[str, Any]:
    """Return the forms of the attributes of a component, or of the fields of a record."""
    if not hasattr(kind, "_fields"):
        return {name: form for base in reversed(kind.__mro__) for name, form in vars(base).get("STATE", {}).items()}
    hints = get_type_hints(kind, include_extras=True)
    forms = {
        name: get_args(hint)[1] if get_origin(hint) is Annotated else _NAMES.get(hint, hint)
        for name, hint in hints.items()
    }
    return {name: form for name, form in forms.items() if isinstance(form, str | list) or hasattr(form, "_fields")}


def _forms_of(thing: Any) -> dict[str, Any]:
    kind: Any = type(thing)
    return _declared(kind)


def _current(thing: Any, name: str) -> Any:
    """Return an attribute; None for a part created on first use that does not exist yet."""
    is_lazy = isinstance(getattr(type(thing), name, None), cached_property) and name not in vars(thing)
    return None if is_lazy else getattr(thing, name)


def dump(thing: Any) -> Tree:
    """Return the state of a component, with its own arrays: write or copy it before the component changes."""
    return {name: _dumped(form, _current(thing, name)) for name, form in _forms_of(thing).items()}


def _dumped(form: Any, value: Any) -> Tree:
    if isinstance(form, Maybe):
        return None if value is None else _dumped(form.form, value)
    if isinstance(form, list):
        return [_dumped(form[0], item) for item in value]
    if isinstance(form, dict):
        ((first, second),) = form.items()
        return [[_dumped(first, key), _dumped(second, item)] for key, item in value.items()]
    if isinstance(form, type):
        return {name: _dumped(inner, getattr(value, name)) for name, inner in _declared(form).items()}
    kind = _parsed(form).kind
    if kind in _KINDS:
        values: Any = sorted(value) if isinstance(value, set) else value
        return np.ascontiguousarray(values, dtype=_KINDS[kind])
    if kind in _SCALARS:
        return _SCALARS[kind](value)
    if kind == "component":
        return None if value is None else dump(value)
    if kind == "rng":
        return value.bit_generator.state
    return encode(value) if kind == "value" else [encode(item) for item in value]


def load(thing: Any, tree: Tree, sizes: Sizes | None = None) -> None:
    """Fill a new component with a state; raises `ValueError` if the state is damaged."""
    _Loader(getattr(thing, "state_sizes", {}) if sizes is None else sizes).load(thing, tree)


class _Loader:
    """Restores a whole search: names in shapes and bounds have one value in all parts."""

    def __init__(self, sizes: Sizes) -> None:
        self._sizes: Sizes = dict(sizes)
        self._checks: list[Callable[[], object]] = []  # when all arrays are restored
        self._hooks: list[Callable[[], object]] = []  # when all parts are checked

    def load(self, thing: Any, tree: Tree) -> None:
        self._fill(thing, tree, type(thing).__name__)
        for step in (*self._checks, *self._hooks):
            step()

    def _fill(self, thing: Any, tree: Tree, where: str) -> None:
        if hasattr(thing, "restored"):
            self._hooks.append(thing.restored)
        forms = _forms_of(thing)
        _need(type(tree) is dict and tree.keys() == forms.keys(), where, f"{', '.join(forms)}", tree)
        for name, form in forms.items():
            if isinstance(form, str) and form == "component" and tree[name] is None:
                continue
            fresh = _current(thing, name) if tree[name] is None else getattr(thing, name)
            value = self._value(form, tree[name], fresh, f"{where}.{name}")
            if form not in ("component", "rng"):  # filled in place
                setattr(thing, name, value)

    def _value(self, form: Any, tree: Tree, fresh: Any, where: str) -> Any:
        if isinstance(form, Maybe):
            return None if tree is None else self._value(form.form, tree, fresh, where)
        if isinstance(form, list):
            _need(type(tree) is list, where, "a list", tree)
            parts = fresh if form == ["component"] else [None] * len(tree)
            items = [
                self._value(form[0], item, part, f"{where}[{i}]")
                for i, (item, part) in enumerate(zip(tree, parts, strict=True))
            ]
            return items if fresh is None else type(fresh)(items)
        if isinstance(form, dict):
            pairs = [(first, second) for first, second in tree]
            keys, values = (
                [self._value(one, item, None, where) for item in half] for one, half in _halves(form, pairs)
            )
            return dict(zip(keys, values, strict=True))
        if isinstance(form, type):
            return self._record(form, tree, fresh, where)
        kind, shape, bounds = _parsed(form)
        if kind in _KINDS:
            shape = tuple(str(np.shape(fresh)[i]) if x == "=" else x for i, x in enumerate(shape))
            array = self._array(kind, shape, bounds, tree, where)
            return set(array.tolist()) if isinstance(fresh, set) else array.tolist() if kind in _LISTS else array
        if kind in _SCALARS:
            is_right = type(tree) is _SCALARS[kind] or (kind == "float" and type(tree) is int)
            _need(is_right, where, f"of type {kind}", tree)
            if bounds:
                self._checks.append(lambda: self._check_bounds(np.array([tree]), bounds, where))
            return _SCALARS[kind](tree)
        if kind == "component":
            self._fill(fresh, tree, where)
            return fresh
        if kind == "rng":
            fresh.bit_generator.state = tree
            return fresh
        if kind == "value":
            return decode(tree)
        _need(type(tree) is list, where, "a list", tree)
        self._bind(shape, (len(tree),) * len(shape), where)
        return [decode(item) for item in tree]

    def _record(self, form: Any, tree: Tree, fresh: Any, where: str) -> Any:
        forms = _declared(form)
        _need(type(tree) is dict and tree.keys() == forms.keys(), where, ", ".join(forms), tree)
        parts = {
            name: self._value(inner, tree[name], getattr(fresh, name, None), f"{where}.{name}")
            for name, inner in forms.items()
        }
        if fresh is None:
            record = form(**parts)
        elif isinstance(fresh, form):
            record = fresh._replace(**parts)
        else:
            record = fresh
            for name, value in parts.items():
                setattr(record, name, value)
        return record

    def _array(
        self, kind: str, shape: tuple[str, ...], bounds: tuple[str, ...], tree: Tree, where: str
    ) -> NDArray[Any]:
        is_right = isinstance(tree, np.ndarray) and tree.dtype == _KINDS[kind] and tree.ndim == len(shape)
        _need(is_right, where, f"an array of {kind} with {len(shape)} axes", tree)
        self._bind(shape, tree.shape, where)
        if bounds:
            self._checks.append(lambda: self._check_bounds(tree, bounds, where))
        return tree  # type: ignore[no-any-return]  # it is an array, as was checked

    def _bind(self, shape: tuple[str, ...], lengths: tuple[int, ...], where: str) -> None:
        """Set names in a shape to the lengths given, or compare these with known values."""
        for name, length in zip(shape, lengths, strict=True):
            while isinstance(other := self._sizes.get(name), str):
                name = other
            if name.isidentifier() and self._sizes.get(name) is None:
                self._sizes[name] = length
            elif name != "*":
                self._checks.append(partial(self._check_length, name, length, where))

    def _check_length(self, name: str, length: int, where: str) -> None:
        _need(length == self._number(name), where, f"of length {self._number(name)}", length)

    def _number(self, expression: str) -> int:
        """Return the value of a sum of products of names and numbers."""
        return sum(
            math.prod(int(x) if x.lstrip("-").isdigit() else self._sizes[x] for x in term.split("*"))  # type: ignore[misc]  # all sizes are known by now
            for term in expression.split("+")
        )

    def _check_bounds(self, array: NDArray[Any], bounds: tuple[str, ...], where: str) -> None:
        columns = [array] if len(bounds) == 1 else [array[..., i] for i in range(len(bounds) - 1)]
        if len(bounds) > 1:
            columns.append(array[..., len(bounds) - 1 :])
        for column, bound in zip(columns, bounds, strict=True):
            low, _, high = bound.rpartition(":")
            if bound == "*" or (high in self._sizes and self._sizes[high] is None) or not column.size:
                continue
            # Unused places hold 0, also if the range is empty.
            least, most = self._number(low or "0"), max(1, self._number(high)) if high else None
            wrong = column[(column < least) | (column >= most if most is not None else False)]
            limit = "" if most is None else f" and below {most}"
            _need(wrong.size == 0, where, f"at least {least}{limit}", wrong[:1].tolist())


def _halves(form: dict[Any, Any], pairs: list[tuple[Any, Any]]) -> Iterator[tuple[Any, list[Any]]]:
    ((first, second),) = form.items()
    yield first, [pair[0] for pair in pairs]
    yield second, [pair[1] for pair in pairs]


def _need(condition: Any, where: str, what: str, came: Any) -> None:
    if not condition:
        raise _Damaged(f"{where} must be {what}, got {shown(came)}")


def need(condition: Any, what: str) -> None:
    """Raise unless a restored state satisfies a condition that forms cannot express."""
    if not condition:
        raise _Damaged(f"its state must have {what}")


@contextmanager
def restoring(path: Any) -> Iterator[None]:
    """Turn any error of a damaged state into one sentence that names the file."""
    try:
        yield
    except (ParetoNRPAError, ImportError):
        raise
    except _Damaged as error:
        raise _damaged(path, str(error)) from error
    except Exception as error:
        raise _damaged(path, f"its state cannot be restored ({type(error).__name__})") from error


def _damaged(path: Any, reason: str) -> CheckpointError:
    return CheckpointError(
        f"{path} is not a checkpoint of pareto-nrpa, or is damaged: {reason}; start again with another file."
    )


def pack(header: dict[str, Any], tree: Tree) -> bytes:
    """Return a header of plain values and a state as bytes: JSON, the arrays, and the SHA-256 of both."""
    arrays: list[bytes] = []

    def skeleton(node: Tree) -> Any:
        if isinstance(node, np.ndarray):
            arrays.append(node.tobytes())
            return {_ARRAY: [node.dtype.str, node.shape]}
        if isinstance(node, dict):
            return {name: skeleton(inner) for name, inner in node.items()}
        return [skeleton(inner) for inner in node] if isinstance(node, list) else node

    text = json.dumps({"header": header, "tree": skeleton(tree)}, default=lambda number: number.item())
    content = b"".join([_BEGINNING, text.encode(), b"\n", *arrays])
    return content + hashlib.sha256(content).digest()


def unpack(content: bytes, source: Any = "the state") -> tuple[dict[str, Any], Tree]:
    """Return the header and the state given to `pack`."""
    if not content.startswith(_BEGINNING):
        raise _damaged(source, "it does not have the format of this version")
    if hashlib.sha256(content[:-_SUM_SIZE]).digest() != content[-_SUM_SIZE:]:
        raise _damaged(source, "its checksum does not match")
    with restoring(source):
        begin = content.index(b"\n", len(_BEGINNING)) + 1
        rest = memoryview(content)[begin:-_SUM_SIZE]

        def whole(node: Any) -> Tree:
            nonlocal rest
            if isinstance(node, dict) and _ARRAY in node:
                kind, shape = node[_ARRAY]
                need(kind in {known.str for known in _KINDS.values()}, "arrays of known kinds")
                need(all(type(length) is int and length >= 0 for length in shape), "arrays of known shapes")
                size = math.prod(shape) * np.dtype(kind).itemsize
                need(size <= len(rest), "all of its arrays")
                array, rest = np.frombuffer(rest[:size], dtype=kind).reshape(shape).copy(), rest[size:]
                return array
            if isinstance(node, dict):
                return {name: whole(inner) for name, inner in node.items()}
            return [whole(inner) for inner in node] if isinstance(node, list) else node

        parts = json.loads(content[len(_BEGINNING) : begin])
        tree = whole(parts["tree"])
        need(len(rest) == 0 and type(parts["header"]) is dict, "nothing else")
        return parts["header"], tree


def write(path: str | os.PathLike[str], header: dict[str, Any], tree: Tree) -> None:
    """Write a checkpoint atomically."""
    content = pack(header, tree)
    write_atomically(path, lambda file: file.write(content))


def read(path: str | os.PathLike[str], expected: dict[str, Any]) -> tuple[dict[str, Any], Tree]:
    """Return the header and the state in a checkpoint of an expected search."""
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        raise CheckpointError(f"cannot read the checkpoint {path}: {error.strerror or error}.") from error
    header, tree = unpack(content, path)
    with restoring(path):
        need({"problem", "instance", "seed", "budget", *expected} <= header.keys(), "a complete header")
        for name in ("seed", "budget"):
            is_none = name == "budget" and header[name] is None
            need(is_none or (type(header[name]) is int and header[name] >= 0), f"a {name} of at least 0")
        _check_header(path, header, json.loads(json.dumps(expected, default=lambda number: number.item())))
    return header, tree


def _check_header(path: Any, saved: dict[str, Any], ours: dict[str, Any]) -> None:
    """Raise unless a checkpoint is of an expected search."""
    way_out = "use that, or another file"
    if saved["searches"] != ours["searches"]:
        n, there = ours["searches"], shown(saved["searches"])
        raise CheckpointError(f"{path} was made with searches={there}, not {n}; {way_out}.")
    if ours["problem"] not in saved["problem"]:
        raise CheckpointError(
            f"the checkpoint {path} is of another problem ({short(saved['instance'])}), or the data or code of "
            f"{ours['instance']} have changed since; choose another file."
        )
    if saved["algorithm"] != ours["algorithm"]:
        raise CheckpointError(
            f"the checkpoint {path} was made by {short(saved['algorithm'])}, not {ours['algorithm']}; {way_out}."
        )
    theirs, mine = saved["parameters"], ours["parameters"]
    for name in {**theirs, **mine}:
        if mine.get(name) != theirs.get(name):
            how = (
                f"with {short(name)}={shown(theirs[name])}, not {mine.get(name)}"
                if name in theirs
                else f"without {name}"
            )
            raise CheckpointError(f"the checkpoint {path} was made {how}; {way_out}.")


def encode(value: Any) -> Any:
    """Return a code or move as JSON for `decode`; tuples become lists."""
    if type(value) is tuple:
        return [encode(item) for item in value]
    if isinstance(value, np.generic):
        return encode(value.item())
    if value is None or type(value) in (bool, int, float, str):
        return value
    raise CheckpointError(
        f"a checkpoint can hold codes and moves made of numbers, text, None and tuples of them, got {value!r}."
    )


def decode(value: Any) -> Any:
    """Return the value given to `encode`."""
    return tuple(decode(item) for item in value) if isinstance(value, list) else value
