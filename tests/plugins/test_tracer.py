"""A layer that answers by stand-ins, as tracers do: Parameters, subclasses, views and writes work over it, and each way
by which a value leaves a tensor calls an operator that the layer sees and may refuse."""

import array
import copy
import ctypes
import io
import math
import operator
import pickle
from pathlib import Path

import lamella
import numpy as np
import pytest
from compiled import compile_library, load

VALUES = [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


class Named(lamella.Tensor):
    pass


@pytest.fixture(scope="module", params=["by thread", "by key"])
def tracer(request, tmp_path_factory):
    flags = ["-DKEYED"] if request.param == "by key" else []
    load(compile_library(tmp_path_factory, Path(__file__).with_name("tracer.cpp"), *flags))
    return lamella.ops.keyed_tracer if flags else lamella.ops.tracer


def traced(tracer, function, stand_ins, real):
    """Calls a function within the layer; returns its result, the result's values, and the operators that were seen."""
    x = tracer.stand_in(real) if stand_ins else real
    tracer.on(stand_ins)
    try:
        result = function(x)
    finally:
        names = tracer.off()
    values = tracer.real(result) if isinstance(result, lamella.Tensor) else result
    return result, values, names


def parameter(x):
    return lamella.nn.Parameter(x)


def frozen(x):
    return lamella.nn.Parameter(x, requires_grad=False)


def named(x):
    return x.as_subclass(Named)


def written(x):
    x[0] = 7.0
    return x


CALLS = {
    "a Parameter": (parameter, lamella.nn.Parameter),
    "a frozen Parameter": (frozen, lamella.nn.Parameter),
    "a Buffer": (lamella.nn.Buffer, lamella.Tensor),
    "a row of a Parameter": (lambda x: parameter(x)[0], lamella.Tensor),
    "a Parameter transposed": (lambda x: parameter(x).t(), lamella.Tensor),
    "a Parameter times two": (lambda x: parameter(x) * 2, lamella.Tensor),
    "a Parameter detached": (lambda x: parameter(x).detach(), lamella.Tensor),
    "a Parameter's data": (lambda x: parameter(x).data, lamella.Tensor),
    "a Parameter written": (lambda x: frozen(x).add_(1), lamella.nn.Parameter),
    "a subclass": (named, Named),
    "a subclass of a subclass": (lambda x: named(x).as_subclass(lamella.nn.Parameter), lamella.nn.Parameter),
    "a row of a subclass": (lambda x: named(x)[0], Named),
    "a subclass transposed": (lambda x: named(x).t(), Named),
    "a subclass plus one": (lambda x: named(x) + 1, Named),
    "a list of a subclass": (lambda x: named(x).unbind()[1], Named),
    "a subclass detached": (lambda x: named(x).detach(), Named),
    "a subclass written": (lambda x: named(x).add_(1), Named),
    "a tensor made one of a class": (lambda x: lamella.Tensor._make_subclass(Named, x), Named),
    "a row": (lambda x: x[0], lamella.Tensor),
    "transposed": (lambda x: x.t(), lamella.Tensor),
    "detached": (lambda x: x.detach(), lamella.Tensor),
    "a row written": (written, lamella.Tensor),
    "added in place": (lambda x: x.add_(1), lamella.Tensor),
    "added by +=": (lambda x: operator.iadd(x, 1), lamella.Tensor),
    "added by out=": (lambda x: lamella.add(x, 1, out=x), lamella.Tensor),
    "copied into": (lambda x: x.copy_(lamella.ones(2, 3)), lamella.Tensor),
    "copied from": (lambda x: lamella.zeros(2, 3).copy_(x), lamella.Tensor),
}


@pytest.mark.parametrize("stand_ins", [False, True])
@pytest.mark.parametrize("call", CALLS)
def test_results_that_the_layer_keeps(tracer, call, stand_ins):
    """The same class, shape and values as without the layer, by stand-ins and by results that it keeps."""
    function, kind = CALLS[call]
    wanted = function(lamella.tensor(VALUES))
    got, values, names = traced(tracer, function, stand_ins, lamella.tensor(VALUES))
    assert type(got) is kind is type(wanted) and got.is_opaque == stand_ins and names
    assert got.shape == wanted.shape and got.stride() == wanted.stride() and got.dtype == wanted.dtype
    assert values.tolist() == wanted.tolist()


def test_a_write_to_an_alias_reaches_what_it_stands_for(tracer):
    def both(x):
        p = frozen(x)
        p.mul_(2)
        p[0] += 1
        return x

    _, values, names = traced(tracer, both, True, lamella.tensor(VALUES))
    assert values.tolist() == [[1.0, 3.0, 5.0], [6.0, 8.0, 10.0]]
    wanted = "aten::detach aten::alias aten::mul_ aten::select aten::add_ aten::select aten::copy_"
    assert names == wanted  # `p[0] += 1` reads the row, adds to it, and stores it


def test_a_module_made_and_called_within_the_layer(tracer):
    def network(x):
        lamella.manual_seed(0)
        net = lamella.nn.Sequential(lamella.nn.Linear(3, 4), lamella.nn.Tanh(), lamella.nn.Linear(4, 2))
        return copy.deepcopy(net.state_dict()) if x is None else net(x)

    wanted = network(lamella.tensor(VALUES))
    got, values, names = traced(tracer, network, True, lamella.tensor(VALUES))
    assert got.is_opaque and values.tolist() == wanted.tolist()
    assert names.split()[-3:] == ["aten::linear", "aten::tanh", "aten::linear"]


def first(x):
    return next(iter(map(float, x)))


ONE, FOUR, NUMBER = lamella.tensor([3.0]), lamella.arange(4.0), lamella.tensor([1])
EXITS = {
    "item": (ONE, lambda x: x.item()),
    "bool": (ONE, bool),
    "int": (ONE, int),
    "float": (ONE, float),
    "complex": (ONE, complex),
    "an index of a list": (NUMBER, lambda x: [5, 6, 7][x]),
    "operator.index": (NUMBER, operator.index),
    "a slice's bound": (lamella.tensor(1), lambda x: lamella.ones(3)[x:]),
    "a size": (lamella.tensor(2), lambda x: lamella.zeros(x)),
    "if": (ONE, lambda x: 1 if x > 1 else 2),
    "in": (FOUR, lambda x: 3.0 in x),
    "is_nonzero": (ONE, lambda x: x.is_nonzero()),
    "equal": (FOUR, lambda x: lamella.equal(x, x)),
    "allclose": (FOUR, lambda x: lamella.allclose(x, x)),
    "math": (ONE, math.sqrt),
    "format with a width": (ONE, lambda x: f"{x.sum():.2f}"),
    "format": (ONE, lambda x: f"{x}"),
    "str": (FOUR, str),
    "repr": (FOUR, repr),
    "elements in a loop": (FOUR, first),
    "max of Python": (FOUR, max),
    "tolist": (FOUR, lambda x: x.tolist()),
    "an element of a list that becomes a tensor": (ONE, lambda x: lamella.tensor([x, 1.0])),
    "numpy": (FOUR, lambda x: x.numpy()),
    "asarray": (FOUR, np.asarray),
    "array": (FOUR, np.array),
    "__array__": (FOUR, lambda x: x.__array__()),
    "memoryview": (FOUR, memoryview),
    "bytes": (FOUR, bytes),
    "array.array": (FOUR, lambda x: array.array("f", x)),
    "ctypes": (FOUR, (ctypes.c_char * 16).from_buffer),
    "frombuffer": (FOUR, lambda x: lamella.frombuffer(x, dtype=lamella.float32)),
    "__dlpack__": (FOUR, lambda x: x.__dlpack__()),
    "np.from_dlpack": (FOUR, np.from_dlpack),
    "from_dlpack": (FOUR, lamella.from_dlpack),
    "data_ptr": (FOUR, lambda x: x.data_ptr()),
    "pickle": (FOUR, pickle.dumps),
    "deepcopy": (FOUR, lambda x: copy.deepcopy(x.as_subclass(lamella.Tensor))),
}


@pytest.mark.parametrize("name", EXITS)
@pytest.mark.parametrize("make", [lambda x: x, frozen], ids=["tensor", "Parameter"])
def test_the_layer_may_refuse_each_exit(tracer, name, make):
    real, function = EXITS[name]
    x = make(tracer.stand_in(real))
    tracer.on(True, True)
    try:
        with pytest.raises(RuntimeError, match="tracer: aten::\\w+: a value leaves the trace"):
            function(x)
    finally:
        names = tracer.off().split()
    assert names[-1] in ("aten::item", "aten::_materialize", "aten::is_nonzero", "aten::equal")


@pytest.mark.parametrize("name", sorted(EXITS.keys() - {"data_ptr", "pickle", "deepcopy"}))
def test_the_layer_may_answer_each_exit(tracer, name):
    real, function = EXITS[name]
    wanted = function(real)
    x = tracer.stand_in(real)
    tracer.on(True)
    try:
        got = function(x)
        if isinstance(got, lamella.Tensor):
            got = tracer.real(got)
    finally:
        tracer.off()
    if name not in ("__dlpack__", "str", "repr", "format"):  # a text says that the tensor is opaque
        assert type(got) is type(wanted)
        same = got is wanted if wanted is None else np.array_equal(np.asarray(got), np.asarray(wanted))
        assert same or bytes(got) == bytes(wanted)


@pytest.mark.parametrize(
    "function, error, text",
    [
        (lambda x: x.data_ptr(), RuntimeError, "data_ptr: the tensor is opaque, so it has no address"),
        (lambda x: x.storage(), NotImplementedError, "storage: the tensor is opaque"),
        (lambda x: x.share_memory_(), ValueError, "share_memory_: the tensor is opaque"),
        (lambda x: lamella.save(x, io.BytesIO()), TypeError, "obj is an opaque tensor, and it has no slot"),
    ],
)
def test_what_no_layer_answers(tracer, function, error, text):
    """There is no memory to give away, whatever the layer says."""
    x = tracer.stand_in(FOUR)
    tracer.on(True)
    try:
        with pytest.raises(error, match=text):
            function(x)
    finally:
        tracer.off()
    assert x.untyped_storage().nbytes() == 0
