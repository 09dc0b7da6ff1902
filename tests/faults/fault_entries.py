"""Cells of public functions other than operators: tensors from data, indexing, conversions, defaults, registration."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import lamella
import numpy as np
from fault_cells import Cell
from fault_samples import mask, matrix, on_meta

TYPE, VALUE = (TypeError,), (ValueError, RuntimeError)
INDEX = (IndexError,)


@dataclass(frozen=True)
class Entry(Cell):
    call: Callable = None

    def run(self, given: dict):
        return self.call(**given)


def entry(name, argument, fault, allowed, call, given=dict, opens=None) -> Entry:
    """``opens`` lists possible first words of the message, by default the entry's name; None disables that check."""
    named = {"name": "aten::" + name, "overload": "", "schema": name}
    start = (name + ":",) if opens is None else opens
    return Entry(named, argument, fault, allowed, given, (argument,) if argument else (), opens=start, call=call)


def data() -> Iterator[Entry]:
    wrong = {
        "an object": object(), "a str": "abc", "None": None, "a dict": {}, "a list with a str": [1.0, "a"],
        "a list with None": [1, None], "a set": {1}, "a list of dicts": [{}], "a str array": np.array(["a"]),
        "an object array": np.array([None]), "a date array": np.array(["2020-01-01"], dtype="M8[D]"),
    }  # fmt: skip
    for label, value in wrong.items():
        named = "" if isinstance(value, np.ndarray) else "data"
        yield entry("tensor", named, label, TYPE, lambda value=value: lamella.tensor(value))
    for label, value in {"ragged": [[1], [1, 2]], "ragged depth": [[1], 2], "too deep": nest(70)}.items():
        yield entry("tensor", "", label, VALUE + TYPE, lambda value=value: lamella.tensor(value))
    for value in (10**30, -(10**30)):
        yield entry("tensor", "", str(value), VALUE + (OverflowError,), lambda v=value: lamella.tensor([v]))
    itself: list = []
    itself.append(itself)
    yield entry("tensor", "", "a list in itself", VALUE + (RecursionError,), lambda: lamella.tensor(itself))
    for label, value in {"a list": [1], "None": None, "a tensor": 1, "a str": "x"}.items():
        yield entry("from_numpy", "", label, TYPE, lambda value=value: lamella.from_numpy(value))
    for label, array in bad_arrays().items():
        yield entry("from_numpy", "", label, TYPE + VALUE, lambda array=array: lamella.from_numpy(array))
    for label, value in {"an object": object(), "None": None, "a list": [1]}.items():
        yield entry("from_dlpack", "", label, TYPE + (BufferError,), lambda value=value: lamella.from_dlpack(value))


def nest(depth: int) -> list:
    value: list = [1.0]
    for _ in range(depth):
        value = [value]
    return value


def bad_arrays() -> dict[str, np.ndarray]:
    return {
        "of str": np.array(["a"]),
        "of objects": np.array([None]),
        "big-endian": np.ones(3, dtype=">f4"),
        "structured": np.zeros(2, dtype=[("a", "f4")]),
        "of long doubles": np.ones(2, dtype=np.longdouble),
    }


def settings() -> Iterator[Entry]:
    for value in ("x", None, 3, lamella.int64, lamella.complex64):
        yield entry("set_default_dtype", "d", repr(value), TYPE, lambda v=value: lamella.set_default_dtype(v))
    for value in (3.5, object(), []):
        kind = type(value).__name__
        yield entry("set_default_device", "device", kind, TYPE, lambda v=value: lamella.set_default_device(v))
    yield entry("set_default_device", "device", "nope", VALUE, lambda: lamella.set_default_device("nope"))
    for value in ("x", None, 1.5, True):
        yield entry("set_num_threads", "n", repr(value), TYPE, lambda v=value: lamella.set_num_threads(v))
    for value in (0, -1, 2**40, 10**30):
        yield entry("set_num_threads", "n", str(value), VALUE, lambda v=value: lamella.set_num_threads(v))
    for value in ("x", None, [1]):
        yield entry("manual_seed", "seed", repr(value), TYPE, lambda v=value: lamella.manual_seed(v))
    for value in ("x", None, 1.5):
        yield entry(
            "manual_seed",
            "seed",
            f"of a Generator, {value!r}",
            TYPE,
            lambda v=value: lamella.Generator().manual_seed(v),
        )
    yield entry("finfo", "type", "an integer dtype", TYPE, lambda: lamella.finfo(lamella.int64))
    yield entry("iinfo", "type", "a floating dtype", TYPE, lambda: lamella.iinfo(lamella.float32))
    yield entry("iinfo", "type", "a str", TYPE, lambda: lamella.iinfo("int64"))
    yield entry("promote_types", "", "numbers", TYPE, lambda: lamella.promote_types(1, 2))
    yield entry(
        "promote_types", "", "uint64 and int8", VALUE, lambda: lamella.promote_types(lamella.uint64, lamella.int8)
    )
    for value in (3, [], None, {}):
        yield entry("set_state", "state", repr(value), TYPE, lambda v=value: lamella.Generator().set_state(v))


def devices() -> Iterator[Entry]:
    for name in ("nope", "cpu:x", "", "cpu:-1", "cpu:9999999999", "c\0pu", "a" * 10000):
        yield entry("device", "", f"named {name[:20]!r}", VALUE, lambda name=name: lamella.device(name))
    for value in (3.5, None, [], {}):
        yield entry("device", "type", repr(value), TYPE, lambda v=value: lamella.device(v))
    for index in ("x", 1.5, []):
        yield entry("device", "index", repr(index), TYPE, lambda i=index: lamella.device("cpu", i))
    yield entry("device", "index", "10**30", VALUE + (OverflowError,), lambda: lamella.device("cpu", 10**30))


def with_t(*shape: int):
    return lambda: {"t": matrix(*shape)}


def indexing() -> Iterator[Entry]:
    opens = ("index", "select", "slice", "__getitem__", "index_put_")
    bad = {"7": 7, "-8": -8, "10**30": 10**30, "2**62": 2**62, "too many": (0, 0, 0), "the second": (0, 5)}
    for label, i in bad.items():
        yield entry("__getitem__", "", label, INDEX, lambda t, i=i: t[i], with_t(2, 3), opens)
    for label, i in {"a str": "x", "a float": 1.5, "an object": object(), "two": (0, "x")}.items():
        yield entry("__getitem__", "", label, TYPE + INDEX, lambda t, i=i: t[i], with_t(2, 3), opens)
    for step in (0, -1):
        yield entry("__getitem__", "", f"step {step}", VALUE, lambda t, s=step: t[::s], with_t(2, 3), opens)
    for shape in ((3,), (2, 2), (2, 3, 1)):
        given = lambda shape=shape: {"t": matrix(2, 3), "m": mask(*shape)}  # noqa: E731
        yield entry("__getitem__", "", f"mask {shape}", INDEX, lambda t, m: t[m], given, opens)
    yield entry("__getitem__", "", "of a zero-dim tensor", INDEX + VALUE, lambda t: t[0], with_t(), opens)
    yield entry("__getitem__", "", "more dimensions than there are", VALUE + INDEX, lambda t: t[(None,) * 100],
                with_t(2), ("index", "unsqueeze", "__getitem__"))  # fmt: skip


def assignment() -> Iterator[Entry]:
    opens = ("index", "select", "slice", "__setitem__", "index_put_", "copy_", "fill_", "tensor")

    def put(t, i, v):
        t[i] = v

    values = {"a str": "x", "None": None, "an object": object(), "a dict": {}, "a list of str": ["x"]}
    for label, v in values.items():
        yield entry("__setitem__", "", label, TYPE, lambda t, v=v: put(t, 0, v), with_t(2, 3), opens)
    for label, i in {"7": 7, "-8": -8, "too many": (0, 0, 0)}.items():
        yield entry("__setitem__", "", label, INDEX, lambda t, i=i: put(t, i, 1.0), with_t(2, 3), opens)
    yield entry("__setitem__", "", "complex", VALUE + TYPE, lambda t: put(t, 0, 1j), with_t(2, 3), opens)
    yield entry("__setitem__", "", "a wrong shape", VALUE, lambda t, v: put(t, 0, v),
                lambda: {"t": matrix(2, 3), "v": matrix(7)}, opens)  # fmt: skip
    yield entry("__setitem__", "", "a wrong count for the mask", VALUE + INDEX, lambda t, m, v: put(t, m, v),
                lambda: {"t": matrix(2, 3), "m": mask(2, 3), "v": matrix(3)}, opens)  # fmt: skip
    yield entry("__setitem__", "", "a mask of another shape", INDEX, lambda t, m: put(t, m, 0.0),
                lambda: {"t": matrix(2, 3), "m": mask(2, 2)}, opens)  # fmt: skip
    yield entry("__setitem__", "", "of an expanded tensor", VALUE, lambda t: put(t, slice(None), 0.0),
                lambda: {"t": matrix(1).expand(4)}, opens)  # fmt: skip
    yield entry("__delitem__", "", "any", TYPE, lambda t: t.__delitem__(0), with_t(2, 3), ("index",))


def conversions() -> Iterator[Entry]:
    for convert in (int, float, complex):
        yield entry("item", "", f"{convert.__name__} of a matrix", VALUE + TYPE, convert_call(convert), with_t(2, 3),
                    ("item", convert.__name__, "__"))  # fmt: skip
    yield entry("bool", "", "of a matrix", VALUE, lambda t: bool(t), with_t(2, 3), ("bool", "item", "__bool__"))
    yield entry("len", "", "of a zero-dim tensor", TYPE, lambda t: len(t), with_t(), ("len", "__len__"))
    yield entry("iter", "", "of a zero-dim tensor", TYPE, lambda t: iter(t), with_t(), ("iter", "__iter__"))
    yield entry("index", "", "of a float", TYPE, lambda t: [1, 2, 3][t], with_t(), ("index", "__index__"))
    for name, allowed in {"numpy": TYPE, "tolist": (NotImplementedError, RuntimeError, TypeError)}.items():
        yield entry(name, "", "on meta", allowed, lambda t, name=name: getattr(t, name)(),
                    lambda: {"t": on_meta(matrix(2))}, (name, "copy_", "to", "item"))  # fmt: skip
    yield entry("size", "", "dimension 7", INDEX, lambda t: t.size(7), with_t(2, 3))
    yield entry("size", "", "dimension 'x'", (TypeError, RuntimeError), lambda t: t.size("x"), with_t(2, 3))
    yield entry("stride", "", "dimension -8", INDEX, lambda t: t.stride(-8), with_t(2, 3))
    yield entry("stride", "", "dimension 'x'", (TypeError, RuntimeError), lambda t: t.stride("x"), with_t(2, 3))
    for value in ("x", None, object(), {}, ["x"]):  # Python itself raises these
        kind = type(value).__name__
        yield anonymous(f"add {kind}", lambda t, v=value: t + v)
        yield anonymous(f"matmul {kind}", lambda t, v=value: t @ v)
        yield anonymous(f"less {kind}", lambda t, v=value: t < v)
        yield anonymous(f"power {kind}", lambda t, v=value: t**v)
    yield anonymous("attribute", lambda t: t.no_such_thing, (AttributeError,))


def convert_call(convert: Callable) -> Callable:
    return lambda t: convert(t)


def anonymous(fault: str, call: Callable, allowed=TYPE) -> Entry:
    named = {"name": "aten::protocol", "overload": "", "schema": "protocol"}
    return Entry(named, "", fault, allowed, with_t(2, 3), opens=None, call=call)


SCHEMAS = (
    "",
    "f",
    "f(",
    "f()",
    "f() ->",
    "f(Tensor) -> Tensor",
    "f(Tensor a, Tensor a) -> Tensor",
    "f(Tensor a -> Tensor",
    "f(int a=x) -> ()",
    "f(Tensor(a! self) -> Tensor",
    "f(" + "int[" * 5000,
    "f(\0) -> ()",
)


def registration() -> Iterator[Entry]:
    def library():
        return lamella.library.Library("bad_input", "FRAGMENT", owner="the sweep")

    for text in SCHEMAS:
        yield registered(f"schema {text[:30]!r}", VALUE, lambda text=text: library().define(text))
    for value in (None, 3, [], object()):
        yield registered(f"a {type(value).__name__} for a schema", TYPE, lambda v=value: library().define(v))
    yield registered("an operator that is not there", VALUE + (LookupError,), lambda: library().impl("no", id, "cpu"))
    yield registered("an operator of ours", VALUE, lambda: library().define("aten::neg(Tensor self) -> Tensor"))
    yield registered("a category that is not there", VALUE, lambda: library().impl_category("no", id, "cpu"))
    yield registered("an anchor that is not there", VALUE, lambda: library().register_layer("l", id, at="no"))
    both = {"outside": ("autograd",), "inside": ("autograd",)}
    yield registered("outside and inside of one", VALUE, lambda: library().register_layer("l", id, **both))
    yield registered("an operator that lamella.ops lacks", (AttributeError,), lambda: lamella.ops.no_such.thing)


def registered(fault: str, allowed: tuple, call: Callable) -> Entry:
    named = {"name": "aten::library", "overload": "", "schema": "library"}
    return Entry(named, "", fault, allowed, dict, opens=None, call=call)


def entries() -> list[Cell]:
    groups = (data, settings, devices, indexing, assignment, conversions, registration)
    return [e for group in groups for e in group()]
