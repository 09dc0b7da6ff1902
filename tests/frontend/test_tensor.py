"""The Tensor object: Python's protocols, identity and lifetime, printing, and names."""

import copy
import gc
import importlib
import inspect
import math
import operator
import pickle
import sys
import weakref

import lamella
import ml_dtypes
import numpy as np
import pytest
from arrays import COMPLEX, DTYPES, FLOATS, INTEGERS, SIGNED, assert_same, lt_dtype, np_dtype, pairs, values
from children import run
from hypothesis import given
from hypothesis import strategies as st

# ---- numbers ---------------------------------------------------------------------------------------------------------

ARITHMETIC = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.eq,
    operator.ne,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
]
AUGMENTED = [operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv]


def by_name(function):
    return function.__name__


@pytest.mark.parametrize("function", ARITHMETIC, ids=by_name)
@given(data=st.data())
def test_operators(function, data):
    x, t = data.draw(pairs("float32", (2, 3), low=1, high=9))
    y, u = data.draw(pairs("float32", (3,), low=1, high=9))
    assert_same(function(t, u), function(x, y))
    assert_same(function(t, 2), function(x, np.float32(2)))
    assert_same(function(3.5, t), function(np.float32(3.5), x))


@pytest.mark.parametrize("function", AUGMENTED, ids=by_name)
@given(data=st.data())
def test_augmented_operators_write_in_place(function, data):
    x, t = data.draw(pairs("float32", (2, 3), low=1, high=9, expanded=False))
    y, u = data.draw(pairs("float32", (3,), low=1, high=9))
    x, address = x.copy(), t.data_ptr()
    assert function(t, u) is t and t.data_ptr() == address
    assert_same(t, function(x, y))
    assert function(t, 2) is t
    assert_same(t, function(x, np.float32(2)))


def test_powers():
    t = lamella.tensor([1.0, 2.0, 3.0])
    same = t
    assert (t**2).tolist() == [1.0, 4.0, 9.0] and (2**t).tolist() == [2.0, 4.0, 8.0]
    assert (t**t).tolist() == [1.0, 4.0, 27.0]
    t **= 2
    assert t is same and t.tolist() == [1.0, 4.0, 9.0]
    with pytest.raises(TypeError):
        pow(t, 2, 3)


def test_unary_operators():
    t = lamella.tensor([1, -2])
    assert (-t).tolist() == [-1, 2] and abs(t).tolist() == [1, 2] and (+t).tolist() == [1, -2]
    assert (~lamella.tensor([True, False])).tolist() == [False, True]
    with pytest.raises(TypeError, match="~: expected a bool or integer tensor, got float32"):
        operator.invert(t.to(lamella.float32))


@pytest.mark.parametrize("function", [operator.and_, operator.or_, operator.xor], ids=by_name)
def test_logical_operators(function):
    x, y = np.array([True, True, False, False]), np.array([True, False, True, False])
    t, u = lamella.tensor(x), lamella.tensor(y)
    assert_same(function(t, u), function(x, y))
    for number in (True, False):
        assert_same(function(t, number), function(x, number))
        assert_same(function(number, t), function(x, number))
    with pytest.raises(RuntimeError, match="bitwise_.*bool and integer"):
        function(t, 1.5)


@pytest.mark.parametrize("function", [operator.add, operator.truediv, operator.matmul, operator.lt], ids=by_name)
@pytest.mark.parametrize("other", ["text", None, object(), [1], {}], ids=type)
def test_foreign_operands_are_left_to_python(function, other):
    with pytest.raises(TypeError):
        function(lamella.ones(1), other)
    with pytest.raises(TypeError):
        function(other, lamella.ones(1))


def test_foreign_types_may_answer():
    class Other:
        def __radd__(self, tensor):
            return "added"

        def __rmatmul__(self, tensor):
            return "multiplied"

    assert lamella.ones(1) + Other() == "added" and lamella.ones(1) @ Other() == "multiplied"


@pytest.mark.parametrize("value", [0, 1, -3, 2.5, 0.0, True, False, math.inf])
def test_conversions(value):
    t = lamella.tensor(value)
    assert bool(t) is bool(value) and float(t) == float(value) and complex(t) == complex(value)
    assert t.item() == value and type(t.item()) is type(value)
    if not isinstance(value, float) or math.isfinite(value):
        assert int(t) == int(value)
    assert bool(lamella.tensor([[value]])) is bool(value)
    if isinstance(value, float):
        with pytest.raises(TypeError, match="index: .*integer"):
            operator.index(t)
    else:
        assert operator.index(t) == int(value)
        assert list(range(5))[t : t + 1] == list(range(5))[value : value + 1]


def test_nan_and_infinity_are_no_integers():
    with pytest.raises(ValueError):
        int(lamella.tensor(math.nan))
    with pytest.raises(OverflowError):
        int(lamella.tensor(math.inf))
    assert bool(lamella.tensor(math.nan)) is True


@pytest.mark.parametrize("convert", [bool, int, float, complex, operator.index, lambda t: t.item()])
@pytest.mark.parametrize("shape", [(2,), (0,), (1, 2)])
def test_only_one_element_converts(convert, shape):
    with pytest.raises((RuntimeError, TypeError, ValueError), match="element|truth|zero-dim|shape"):
        convert(lamella.zeros(shape))


def test_complex_numbers():
    t = lamella.tensor(1 + 2j)
    assert complex(t) == t.item() == 1 + 2j
    for convert in (int, float):
        with pytest.raises(TypeError):
            convert(t)


def test_format():
    assert f"{lamella.tensor(2.5):.2f}" == "2.50" and f"{lamella.tensor(7):03d}" == "007"
    t = lamella.ones(2)
    assert f"{t}" == str(t) == repr(t)
    with pytest.raises(TypeError):
        f"{t:.2f}"


# ---- sequences -------------------------------------------------------------------------------------------------------


def test_sequence_protocol():
    t = lamella.arange(6).view(3, 2)
    assert len(t) == 3 and [len(row) for row in t] == [2, 2, 2]
    a, b, c = t
    assert (a.tolist(), b.tolist(), c.tolist()) == ([0, 1], [2, 3], [4, 5])
    assert list(zip(*t.tolist(), strict=True)) == [(0, 2, 4), (1, 3, 5)]
    assert sum(lamella.tensor([1, 2, 3])).item() == 6 and max(lamella.tensor([1, 5, 2])).item() == 5
    assert len(lamella.zeros(0, 3)) == 0 and list(lamella.zeros(0)) == []
    for f in (len, iter, list):
        with pytest.raises(TypeError, match="zero-dim"):
            f(lamella.tensor(1))


def test_contains():
    t = lamella.tensor([1, 2, 3])
    assert 2 in t and 7 not in t and 2.0 in t and lamella.tensor(3) in t
    assert "a" not in t
    assert math.nan not in lamella.tensor([math.nan])


def test_tolist():
    x = values("float64", 24, 1, -9, 9).reshape(2, 3, 4)
    assert lamella.tensor(x).permute(2, 0, 1).tolist() == x.transpose(2, 0, 1).tolist()
    assert lamella.tensor(3).tolist() == 3 and lamella.zeros(2, 0).tolist() == [[], []]


# ---- identity --------------------------------------------------------------------------------------------------------


def test_equality_is_elementwise_and_hash_is_identity():
    a, b = lamella.tensor([1, 2]), lamella.tensor([1, 2])
    assert (a == b).tolist() == [True, True] and (a != b).tolist() == [False, False]
    assert hash(a) == hash(a) and len({a, b, a}) == 2 and {a: 1}[a] == 1
    assert (a == None) is False and (a != None) is True  # noqa: E711
    assert (a == "text") is False


def test_one_object_per_tensor():
    t = lamella.ones(4)
    v = t[1:]
    assert v._base is t and v[1:]._base is t and t.add_(1) is t
    assert lamella.add(t, 1, out=t) is t and t.contiguous() is t


def test_attributes_survive_while_a_view_holds_the_tensor():
    t = lamella.ones(3)
    t.note, alive = "kept", weakref.ref(t)
    v = t[1:]
    del t
    gc.collect()
    assert alive() is not None and v._base is alive() and v._base.note == "kept"
    again = v._base
    again.note = "changed"
    del again
    gc.collect()
    assert v._base.note == "changed"
    del v
    gc.collect()
    assert alive() is None


def test_a_plain_tensor_is_let_go_and_comes_back():
    t = lamella.arange(3)
    v = t[1:]
    del t
    gc.collect()
    assert v._base.tolist() == [0, 1, 2] and v._base is v._base


def test_attributes():
    t = lamella.ones(1)
    t.anything = [1]
    assert t.anything == [1] and t.__dict__ == {"anything": [1]}
    del t.anything
    assert not hasattr(t, "anything")
    for name in ("shape", "dtype", "device", "ndim"):
        with pytest.raises(AttributeError):
            setattr(t, name, 1)


def test_reused_objects_start_clean():
    """Objects are pooled: a new tensor has no trace of the freed one whose object it reuses."""
    for _ in range(20):
        t = lamella.ones(1)
        assert not t.__dict__
        t.secret = 1
        seen = []
        watch = weakref.ref(t, seen.append)
        del t
        assert seen == [watch] and watch() is None


def test_weak_references():
    t, died = lamella.ones(2), []
    r = weakref.ref(t, died.append)
    assert r() is t
    keys = weakref.WeakKeyDictionary({t: "value"})
    del t
    gc.collect()
    assert r() is None and died == [r] and len(keys) == 0


class Cell:
    pass


@pytest.mark.parametrize("with_view", [False, True])
def test_cycles_are_collected(with_view):
    t, cell = lamella.ones(2), Cell()
    t.cell, cell.tensor = cell, t[1:] if with_view else t
    gone = weakref.ref(cell)
    del t, cell
    gc.collect()
    assert gone() is None


def test_garbage_does_not_grow():
    def turn():
        t = lamella.ones(3)
        t.me = t
        (t[1:] + t[:1]).sum().item()

    for _ in range(50):
        turn()
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(500):
        turn()
    gc.collect()
    assert len(gc.get_objects()) - before < 50


# ---- subclasses ------------------------------------------------------------------------------------------------------


class Named(lamella.Tensor):
    """A subclass with an attribute."""

    def __new__(cls, tensor, name):
        made = super().__new__(cls, tensor)
        made.name = name
        return made

    def __init__(self, tensor, name):
        pass

    def shout(self):
        return self.name.upper()


def test_subclasses():
    base = lamella.zeros(2)
    t = Named(base, "weights")
    assert isinstance(t, lamella.Tensor) and isinstance(t, Named) and lamella.is_tensor(t)
    assert t.shout() == "WEIGHTS" and t.data_ptr() == base.data_ptr()
    t += 1
    assert base.tolist() == [1.0, 1.0] and type(t) is Named
    assert (t * 2 + base).tolist() == [3.0, 3.0]
    assert repr(t).startswith("Named(")


def test_a_subclass_survives_behind_its_view():
    t = Named(lamella.zeros(3), "kept")
    v = t[1:]
    del t
    gc.collect()
    assert type(v._base) is Named and v._base.name == "kept"


def test_subclasses_are_collected():
    t = Named(lamella.zeros(3), "x")
    t.me, gone = t, weakref.ref(t)
    del t
    gc.collect()
    assert gone() is None


# ---- metadata --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@given(data=st.data())
def test_metadata(dtype, data):
    shape = tuple(data.draw(st.lists(st.integers(0, 4), max_size=4)))
    x, t = data.draw(pairs(dtype, shape))
    assert t.shape == t.size() == shape and t.ndim == t.dim() == t.ndimension() == x.ndim
    assert t.numel() == t.nelement() == lamella.numel(t) == x.size and t.nbytes == x.nbytes
    assert t.element_size() == t.itemsize == x.itemsize and t.dtype is lt_dtype(dtype)
    assert t.is_contiguous() == x.flags.c_contiguous
    assert t.data_ptr() == t.storage().data_ptr() + t.storage_offset() * t.itemsize or not x.size
    assert [t.size(d) for d in range(-x.ndim, x.ndim)] == list(shape) * 2
    assert [t.stride(d) for d in range(x.ndim)] == list(t.stride())
    assert t.is_floating_point() == lamella.is_floating_point(t) == (dtype in FLOATS)
    assert t.is_complex() == lamella.is_complex(t) == (dtype in COMPLEX)


def test_dimensions_out_of_range():
    t = lamella.ones(2)
    for f in (t.size, t.stride):
        with pytest.raises(IndexError, match="argument 'dim'"):
            f(1)
        with pytest.raises(IndexError, match="argument 'dim'"):
            f(-2)
        with pytest.raises((TypeError, RuntimeError), match="argument 'dim'"):  # names, which this tensor has not
            f("a")


def test_storage():
    t = lamella.zeros(6, dtype=lamella.int16)
    s = t[2:].storage()
    assert s.nbytes() == 12 and len(s) == 6 and s.data_ptr() == t.data_ptr() and s.device == t.device


def test_size():
    s = lamella.ones(2, 3).shape
    assert isinstance(s, lamella.Size) and isinstance(s, tuple) and s == (2, 3) and s.numel() == 6
    assert repr(s) == "lamella.Size([2, 3])" and s[0] == 2 and lamella.Size([]).numel() == 1
    assert lamella.zeros(s).shape == s and hash(s) == hash((2, 3))
    assert type(s[:1]) is lamella.Size and type(s + (4,)) is lamella.Size and (s + (4,)).numel() == 24


@pytest.mark.parametrize("name", DTYPES)
def test_dtypes(name):
    d = lt_dtype(name)
    assert repr(d) == f"lamella.{name}" and d.itemsize == np_dtype(name).itemsize
    assert d.is_floating_point == (name in FLOATS) and d.is_complex == (name in COMPLEX)
    assert d.is_signed == (name in SIGNED + FLOATS + COMPLEX)
    assert pickle.loads(pickle.dumps(d)) is d and copy.deepcopy(d) is d
    assert lamella.zeros(1, dtype=name).dtype is d


def test_dtype_aliases():
    pairs_ = {
        "half": "float16",
        "float": "float32",
        "double": "float64",
        "cfloat": "complex64",
        "cdouble": "complex128",
    }
    for alias, name in {**pairs_, "short": "int16", "int": "int32", "long": "int64"}.items():
        assert getattr(lamella, alias) is lt_dtype(name)
    for python, name in {float: "float32", int: "int64", bool: "bool", complex: "complex64"}.items():
        assert lamella.zeros(1, dtype=python).dtype is lt_dtype(name)


def test_devices():
    d = lamella.device("cpu")
    assert d == lamella.device("cpu", 0) and hash(d) == hash(lamella.device("cpu")) and str(d) == "cpu"
    assert d.type == "cpu" and d.index is None and repr(d) == "device(type='cpu')"
    assert d != lamella.device("meta") and pickle.loads(pickle.dumps(d)) == d
    for wrong in ("nowhere", "cpu:x", ""):
        with pytest.raises(RuntimeError, match="device"):
            lamella.device(wrong)
    with pytest.raises(TypeError, match="device: argument 'type'"):
        lamella.device(1.5)
    with pytest.raises(RuntimeError, match="does not exist"):
        lamella.zeros(1, device="cpu:7")


def test_default_device():
    lamella.set_default_device("meta")
    assert lamella.zeros(1).device.type == "meta" and lamella.get_default_device().type == "meta"
    assert lamella.tensor([1]).device.type == "meta"
    lamella.set_default_device(None)
    assert lamella.zeros(1).device.type == "cpu"


@pytest.mark.parametrize("name", FLOATS + COMPLEX)
def test_finfo(name):
    ours, theirs = lamella.finfo(lt_dtype(name)), ml_dtypes.finfo(np_dtype(name))
    for field in ("bits", "eps", "max", "min", "tiny", "smallest_normal"):
        assert float(getattr(ours, field)) == float(getattr(theirs, field)), field
    assert ours.resolution == pytest.approx(float(theirs.resolution), rel=1e-2)
    assert name in ("complex64", "complex128") or ours.dtype == name
    assert repr(ours).startswith("finfo(resolution=")


def test_finfo_of_the_default():
    assert lamella.finfo().bits == 32
    lamella.set_default_dtype(lamella.float64)
    assert lamella.finfo().bits == 64


@pytest.mark.parametrize("name", INTEGERS)
def test_iinfo(name):
    ours, theirs = lamella.iinfo(lt_dtype(name)), np.iinfo(name)
    assert (ours.bits, ours.min, ours.max, ours.dtype) == (theirs.bits, theirs.min, theirs.max, name)
    assert repr(ours) == f"iinfo(min={theirs.min}, max={theirs.max}, dtype={name})"


@pytest.mark.parametrize("kind, wrong", [("finfo", "int8"), ("finfo", "bool"), ("iinfo", "float32"), ("iinfo", "bool")])
def test_limits_of_the_wrong_kind(kind, wrong):
    with pytest.raises(TypeError, match=f"{kind}: argument 'type'"):
        getattr(lamella, kind)(lt_dtype(wrong))
    with pytest.raises(TypeError, match=f"{kind}: argument 'type'"):
        getattr(lamella, kind)("nonsense")


@pytest.mark.parametrize("wrong, error", [(0, RuntimeError), (-1, RuntimeError), (2.0, TypeError), (True, TypeError)])
def test_number_of_threads(wrong, error):
    lamella.set_num_threads(2)
    assert lamella.get_num_threads() == 2
    with pytest.raises(error, match="set_num_threads: argument 'n'"):
        lamella.set_num_threads(wrong)
    assert lamella.get_num_threads() == 2


# ---- printing --------------------------------------------------------------------------------------------------------


def test_repr_of_much_is_short():
    assert len(repr(lamella.zeros(300, 300))) < 2000
    assert len(repr(lamella.zeros(10**6)[::2])) < 200
    assert repr(lamella.zeros(30, 50, 40)).count("...") >= 3


@pytest.mark.parametrize("dtype", DTYPES)
@given(data=st.data())
def test_repr_of_anything(dtype, data):
    x, t = data.draw(pairs(dtype, tuple(data.draw(st.lists(st.integers(0, 4), max_size=4)))))
    text = repr(t)
    assert text.startswith("tensor(") and text.endswith(")")
    numbers = text.removeprefix("tensor(").partition(", dtype")[0].partition(", size")[0]
    assert x.size == 0 or numbers.count(",") + 1 >= x.size


def test_repr_reads_back():
    for t in (lamella.tensor([[1.5, -2.0], [0.25, 1.0]]), lamella.arange(12).view(3, 4), lamella.tensor([True])):
        again = eval(repr(t), {"tensor": lamella.tensor})
        assert again.tolist() == t.tolist() and again.dtype is t.dtype


# ---- names that are missing, and help --------------------------------------------------------------------------------


def message(call):
    with pytest.raises((AttributeError, ImportError)) as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize("name", ["export", "mtia", "zeross"])
def test_names_that_are_not_there_stay_out_of_the_module(name):
    """Python itself raises: with a __getattr__ on the module, all existing names would be slower."""
    assert message(lambda: getattr(lamella, name)) == f"module 'lamella' has no attribute '{name}'"


@pytest.mark.needs("autograd")  # a disabled plugin adds a __getattr__ with the reason
def test_the_module_has_no_getattr():
    assert "__getattr__" not in vars(lamella) and type(lamella) is type(importlib)


def test_lazy_modules_run_when_they_are_used():
    code = """
import sys, threading, lamella
from lamella import nn, utils
import lamella.nn as again
assert nn is lamella.nn is again is sys.modules["lamella.nn"] and "lamella.nn.functional" not in sys.modules
assert "functional" in dir(nn) and type(nn) is type(sys) and type(utils) is not type(sys)
found = []
threads = [threading.Thread(target=lambda: found.append(lamella.testing.make_tensor)) for _ in range(8)]
[t.start() for t in threads], [t.join() for t in threads]
assert len(set(found)) == 1 and len(found) == 8
import lamella.utils.cpp_extension
assert lamella.utils.cpp_extension.load_inline
"""
    run(sys.executable, "-c", code, cwd=".")


@pytest.mark.parametrize("name", ["export"])
def test_planned_names_of_tensor(name):
    for holder in (lamella.Tensor, lamella.ones(1)):
        text = message(lambda holder=holder: getattr(holder, name))
        assert f"Tensor.{name}" in text and "planned with" in text
    assert not hasattr(lamella.ones(1), name)
    assert "planned" in message(lambda: setattr(lamella.ones(1), name, True))


def test_planned_modules():
    text = message(lambda: importlib.import_module("lamella.export"))
    assert "lamella.export" in text and "planned with" in text
    with pytest.raises(ModuleNotFoundError) as caught:
        importlib.import_module("lamella.export.passes")
    assert caught.value.name in ("lamella.export", "lamella.export.passes")


def test_unknown_submodules():
    text = message(lambda: importlib.import_module("lamella.zeross"))
    assert "not planned" in text and "did you mean 'zeros'" in text


@pytest.mark.parametrize("call", [lambda: lamella.Tensor.summ, lambda: lamella.ones(1).summ], ids=["Tensor", "tensor"])
def test_unknown_names_of_tensor_get_pythons_answer(call):
    """CPython itself raises AttributeError for a name of Tensor that is not planned: see decision 0001."""
    assert "summ" in message(call)


def test_names_without_neighbours():
    text = message(lambda: importlib.import_module("lamella.qqqqqqqq"))
    assert "not planned" in text and "did you mean" not in text


def test_existing_names_are_not_planned():
    from lamella._absent import PLANNED

    modules = {place: importlib.import_module(place) for place in PLANNED if place != "Tensor"}
    assert "lamella" in modules
    stale = [f"{place}.{name}" for place, module in modules.items() for name in set(dir(module)) & set(PLANNED[place])]
    assert not stale, "names that exist and are still listed as planned"


def test_dir_lists_what_is_there():
    names = dir(lamella)
    assert {"add", "tensor", "Tensor", "float32", "library", "plugins", "__version__"} <= set(names)
    assert all(hasattr(lamella, n) for n in names) and set(lamella.__all__) <= set(names)
    assert {"add", "view", "shape", "numpy"} <= set(dir(lamella.ones(1)))


def test_dir_imports_nothing_heavy():
    code = (
        "import lamella, sys; dir(lamella); dir(lamella.Tensor); print({'numpy', 'torch', 'pytest'} & set(sys.modules))"
    )
    assert run(sys.executable, "-c", code, cwd=".") == "set()\n"


LIVE = [o for o in lamella._C._operators() if o["owner"] == "lamella"]
FUNCTIONS = {o["name"].partition("::")[2] for o in LIVE if o["function"] and not o["private"]}


@pytest.mark.parametrize(
    "name", sorted(n for n in FUNCTIONS if isinstance(getattr(lamella, n, None), lamella._C.OperatorPacket))
)
def test_operators_have_help(name):
    f = getattr(lamella, name)
    assert f.__name__ == name and f.__doc__.startswith(name + "(") and ">>> " in f.__doc__
    assert f.__text_signature__.startswith("(") and f.__text_signature__.endswith(")")
    signature = inspect.signature(f)
    first = next(o for o in LIVE if o["name"] == f"aten::{name}" and o["form"] != "out")
    assert list(signature.parameters)[:1] == [first["args"][0]["name"]]


def test_help_shows_signature_meaning_and_example(capsys):
    help(lamella.add)
    text = capsys.readouterr().out
    assert "add(self, other, *, alpha=1)" in text and "element by element" in text and ">>> lamella.add" in text


def test_bound_methods():
    t = lamella.ones(2)
    assert t.add(1).tolist() == [2.0, 2.0] and t.add.__self__ is t
    assert lamella.Tensor.add(t, 1).tolist() == [2.0, 2.0]
    assert pickle.loads(pickle.dumps(lamella.add)) is lamella.add


def test_version_matches_the_distribution():
    from importlib.metadata import version

    assert lamella.__version__ == version("lamella")
