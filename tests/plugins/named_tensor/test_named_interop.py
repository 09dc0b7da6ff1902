"""Named tensors beside xarray and einops, which are the oracles, and named views of modules' parameters."""

import itertools
import subprocess
import sys

import einops
import lamella
import numpy as np
import pytest
import xarray
from hypothesis import given
from hypothesis import strategies as st
from lamella import named, nn


def numbered(*shape, names=None):
    x = lamella.arange(float(np.prod(shape))).reshape(shape)
    return x.rename(*names) if names else x


# ---- keywords of functions that read memory --------------------------------------------------------------------------


def test_functions_over_memory_take_names():
    array = np.zeros((2, 3), np.float32)
    x = lamella.from_numpy(array, names=["n", "c"])
    x[{"c": 1}] = 5.0
    assert x.names == ("n", "c") and array[:, 1].tolist() == [5, 5]
    y = lamella.frombuffer(bytearray(8), dtype=lamella.int32, names=["n"])
    assert y.names == ("n",)
    with pytest.raises(TypeError, match=r"^from_numpy.*'nams'"):
        lamella.from_numpy(array, nams=["n", "c"])
    with pytest.raises(TypeError, match=r"^frombuffer.*'nams'"):
        lamella.frombuffer(bytearray(8), dtype=lamella.int32, nams=["n"])
    with pytest.raises(TypeError, match="expected one numpy.ndarray, got 2"):
        lamella.from_numpy(array, array)
    with pytest.raises(RuntimeError, match="2 dimensions"):
        lamella.from_numpy(array, names=["n"])


# ---- xarray ----------------------------------------------------------------------------------------------------------


def test_an_array_of_xarray_and_back():
    array = xarray.DataArray(np.arange(6.0).reshape(2, 3), dims=("time", "place"), name="rain")
    x = named.from_xarray(array)
    assert x.names == ("time", "place") and x.dtype == lamella.float64
    x[{"time": 0, "place": 0}] = 7.0
    assert array.values[0, 0] == 7  # the memory is shared
    back = named.to_xarray(x, name="rain")
    assert back.identical(array)
    back.values[1, 2] = -1.0
    assert x[1, 2].item() == -1


@pytest.mark.parametrize("reduction", ["sum", "mean", "max", "std"])
def test_reductions_by_name_are_those_of_xarray(reduction):
    x = numbered(2, 3, 4, names=["a", "b", "c"]).cos()
    array = named.to_xarray(x)
    for dims in itertools.chain.from_iterable(itertools.combinations("abc", n) for n in (1, 2)):
        if reduction == "max":
            found = x.amax(list(dims))
        else:
            found = getattr(x, reduction)(list(dims), **({"correction": 0} if reduction == "std" else {}))
        expected = getattr(array, reduction)(dims)
        assert found.names == expected.dims
        np.testing.assert_allclose(found.numpy(), expected.values, rtol=1e-6, atol=1e-6)


def test_arithmetic_by_name_is_that_of_xarray():
    a = numbered(2, 3, names=["n", "c"])
    b = numbered(4, 2, names=["t", "n"])
    with named.matching("by_name"):
        found = a * b + b
    expected = named.to_xarray(a) * named.to_xarray(b) + named.to_xarray(b)
    np.testing.assert_array_equal(found.align_to(*expected.dims).numpy(), expected.values)


def test_coordinates_are_dropped_or_kept_as_the_caller_says():
    coords = {"place": ["x", "y", "z"], "height": ("place", [1, 2, 3]), "run": 5}
    array = xarray.DataArray(np.ones((2, 3)), dims=("time", "place"), coords=coords)
    with pytest.raises(ValueError, match=r"coordinates \['place', 'height', 'run'\].*coords='drop'"):
        named.from_xarray(array)
    assert named.from_xarray(array, coords="drop").names == ("time", "place")
    x, kept = named.from_xarray(array, coords="keep")
    assert named.to_xarray(x, kept).identical(array)
    less = named.to_xarray(x.sum("place"), kept)  # no coordinate along "place" is left
    assert less.dims == ("time",) and list(less.coords) == ["run"]
    given = {
        "height": ("place", [1, 2, 3]),
        "run": 5,
        "place": list("xyz"),
        "both": (["time", "place"], np.ones((2, 3))),
    }
    assert named.to_xarray(x, given).identical(xarray.DataArray(x.numpy(), given, x.names))
    assert list(named.to_xarray(x[0], given).coords) == ["height", "run", "place"]
    with pytest.raises(ValueError, match="'drop' or 'keep', got 'some'"):
        named.from_xarray(array, coords="some")


def test_errors_of_xarray():
    with pytest.raises(TypeError, match="must be xarray.DataArray, got ndarray"):
        named.from_xarray(np.ones(2))
    with pytest.raises(RuntimeError, match="'two words' cannot be a name"):
        named.from_xarray(xarray.DataArray(np.ones(2), dims=["two words"]))
    with pytest.warns(UserWarning), pytest.raises(RuntimeError, match=r"stands twice in \['n', 'n'\]"):
        named.from_xarray(xarray.DataArray(np.ones((2, 2)), dims=["n", "n"]))
    with pytest.raises(TypeError, match="from_xarray: tensors have no dtype for an array of datetime64"):
        named.from_xarray(xarray.DataArray(np.zeros(2, "datetime64[ns]"), dims=["n"]))
    with pytest.raises(RuntimeError, match="dimension 1 has no name"):
        named.to_xarray(lamella.ones(2, 3, names=["n", None]))
    with pytest.raises(TypeError, match="must be Tensor, got list"):
        named.to_xarray([1])


def test_without_the_library_the_error_says_what_to_install():
    program = (
        "import sys; sys.modules.update(xarray=None, einops=None)\n"
        "import lamella\n"
        "for f in (lambda: lamella.named.to_xarray(lamella.ones(2)),"
        " lambda: lamella.named.rearrange(lamella.ones(2), 'a -> a')):\n"
        "    try: f()\n"
        "    except ImportError as e: print(e)\n"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert "pip install xarray" in said and "pip install einops" in said


# ---- einops ----------------------------------------------------------------------------------------------------------

PATTERNS = [
    ("rearrange", "a b c -> c a b", (), {}, ("c", "a", "b")),
    ("rearrange", "a b c -> (a b) c", (), {}, (None, "c")),
    ("rearrange", "a b c -> a 1 (c b)", (), {}, ("a", None, None)),
    ("rearrange", "a b (c d) -> d a (b c)", (), {"d": 2}, ("d", "a", None)),
    ("rearrange", "a ... -> ... a", (), {}, ("b", None, "a")),
    ("reduce", "a b c -> b", ("sum",), {}, ("b",)),
    ("reduce", "a b c -> a () c", ("max",), {}, ("a", None, "c")),
    ("reduce", "a b (c d) -> a c", ("mean",), {"d": 2}, ("a", "c")),
    ("reduce", "... c -> ...", ("prod",), {}, ("a", "b")),
    ("reduce", "a b c ->", ("sum",), {}, ()),
    ("repeat", "a b c -> a r b c", (), {"r": 3}, ("a", "r", "b", "c")),
    ("repeat", "a b c -> a (b r) c", (), {"r": 2}, ("a", None, "c")),
]


@pytest.mark.parametrize(("function", "pattern", "more", "sizes", "names"), PATTERNS)
def test_patterns(function, pattern, more, sizes, names):
    own = ("a", "b", None)  # a name in parentheses is no name of the dimension
    x = numbered(2, 3, 4, names=own) / 7
    made = getattr(named, function)(x, pattern, *more, **sizes)
    expected = getattr(einops, function)(x.rename(None).numpy(), pattern, *more, **sizes)
    assert made.names == names and x.names == own
    np.testing.assert_allclose(made.numpy(), expected, rtol=1e-6)


@given(st.permutations("abcd"), st.permutations("abcd"))
def test_rearrange_without_a_left_side_orders_by_name(own, wanted):
    x = numbered(2, 3, 4, 5, names=own)
    made = named.rearrange(x, "-> " + " ".join(wanted))
    assert made.names == tuple(wanted)
    assert made.tolist() == x.align_to(*wanted).tolist()


def test_patterns_disagree_with_names():
    x = lamella.ones(2, 3, names=["n", "c"])
    with pytest.raises(RuntimeError, match="dimension 1 has the name 'c', and is 'k' in the pattern"):
        named.rearrange(x, "n k -> k n")
    with pytest.raises(RuntimeError, match="no left side, and dimension 1"):
        named.reduce(lamella.ones(2, 3, names=["n", None]), "-> n", "sum")
    with pytest.raises(einops.EinopsError):
        named.rearrange(x, "n c d -> n c d")
    for function, more in ((named.rearrange, ()), (named.reduce, ("sum",))):
        for pattern in ("n c", "", "n c -> c -> n"):
            with pytest.raises(einops.EinopsError, match="must have one '->'"):
                function(x, pattern, *more)
    with pytest.raises(einops.EinopsError):
        named.rearrange(x, "n ... c ... -> n c")
    with pytest.raises(TypeError, match="'pattern' must be str, got list"):
        named.rearrange(x, ["n"])
    with pytest.raises(TypeError, match="must be Tensor, got int"):
        named.rearrange(3, "-> a")
    assert x.names == ("n", "c")


@pytest.mark.needs("autograd")
def test_patterns_have_gradients():
    x = lamella.ones(2, 3, names=["n", "c"], requires_grad=True)
    (named.rearrange(x, "-> c n") * lamella.arange(2.0)).sum().backward()
    assert x.grad.names == ("n", "c") and x.grad.tolist() == [[0, 0, 0], [1, 1, 1]]


# ---- parameters ------------------------------------------------------------------------------------------------------

MODULES = {
    "Linear": (lambda: nn.Linear(2, 3), {"weight": ("out_features", "in_features"), "bias": ("out_features",)}),
    "Conv2d": (
        lambda: nn.Conv2d(2, 4, (3, 5), groups=2),
        {"weight": ("out_channels", "in_channels", "height", "width"), "bias": ("out_channels",)},
    ),
    "Conv1d": (lambda: nn.Conv1d(2, 4, 3, bias=False), {"weight": ("out_channels", "in_channels", "width")}),
    "ConvTranspose3d": (
        lambda: nn.ConvTranspose3d(2, 4, 3, bias=False),
        {"weight": ("in_channels", "out_channels", "depth", "height", "width")},
    ),
    "Embedding": (lambda: nn.Embedding(5, 2), {"weight": ("num_embeddings", "embedding_dim")}),
    "BatchNorm2d": (lambda: nn.BatchNorm2d(3), {"weight": ("num_features",), "bias": ("num_features",)}),
    "LayerNorm": (lambda: nn.LayerNorm((2, 3)), {"weight": (None, None), "bias": (None, None)}),
    "LSTM": (
        lambda: nn.LSTM(2, 3, proj_size=1),
        {
            "weight_ih_l0": ("gates", "input"),
            "weight_hh_l0": ("gates", "hidden"),
            "bias_ih_l0": ("gates",),
            "bias_hh_l0": ("gates",),
            "weight_hr_l0": ("projection", "hidden"),
        },
    ),
    "MultiheadAttention": (
        lambda: nn.MultiheadAttention(4, 2),
        {
            "in_proj_weight": ("in_proj", "embed_dim"),
            "in_proj_bias": ("in_proj",),
            "out_proj.weight": ("out_features", "in_features"),
            "out_proj.bias": ("out_features",),
        },
    ),
}


@pytest.mark.parametrize("kind", MODULES)
def test_parameters_of_modules(kind):
    make, expected = MODULES[kind]
    module = make()
    views = named.parameters(module)
    assert {name: view.names for name, view in views.items()} == expected
    for name, parameter in module.named_parameters():
        assert views[name].data_ptr() == parameter.data_ptr() and not parameter.has_names()


@pytest.mark.needs("autograd")
def test_gradients_reach_the_parameters():
    net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    penalty = sum(p.square().sum() for p in named.parameters(net).values() if "in_features" in p.names)
    penalty.backward()
    for layer in (net[0], net[2]):
        np.testing.assert_allclose(layer.weight.grad.numpy(), 2 * layer.weight.detach().numpy(), rtol=1e-6)
        assert layer.bias.grad is None


def test_axes_of_other_modules():
    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(lamella.ones(3))
            self.inner = nn.Linear(3, 3)

    net = nn.ModuleList([Scaled(), Scaled()])
    net[1].inner.weight.names = ("mine", None)
    names = {name: p.names for name, p in named.parameters(net, {"0.scale": ["head"], "*.bias": [None]}).items()}
    assert names["0.scale"] == ("head",) and names["1.scale"] == (None,)
    assert names["0.inner.bias"] == (None,) and names["1.inner.weight"] == ("mine", None)
    for axes, error, match in (
        ({"*.scale": ["a", "b"]}, RuntimeError, r"'0.scale' has 1 dimensions, and 'axes' names \['a', 'b'\]"),
        ({"*.bias": "out"}, TypeError, r"'\*.bias' has the str 'out'"),
        ({"*.bais": ["out"]}, ValueError, r"'\*.bais' fits none of \['0.scale', "),
    ):
        with pytest.raises(error, match=match):
            named.parameters(net, axes)
    with pytest.raises(ValueError, match="'weight' has no shape yet"):
        named.parameters(nn.LazyLinear(3))
    assert named.parameters(nn.RNN(2, 3))["weight_hh_l0"].names == ("units", "hidden")
