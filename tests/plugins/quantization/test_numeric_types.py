"""Numeric types that packages add: one registered in a program, and the two example packages, installed with pip."""

import re
from pathlib import Path

import lamella
import pytest
from children import Guest, run
from environments import PIP, fresh_environment

pytestmark = pytest.mark.needs("autograd", "quantization")
EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
quantization = lamella.quantization


@pytest.fixture
def signs():
    made = quantization.register_type(
        "signs", bits=4, largest=1.0, encode=lambda x: (x > 0).to(lamella.uint8), decode=lambda c: c.float() * 2 - 1
    )
    yield made
    if made.name in quantization.type_names():
        made.close()


def test_a_type_has_all_schemes(signs):
    x = lamella.tensor([[-0.3, 5.0, 1.0], [0.2, -2.0, -1.0]])
    assert lamella.quantize_per_tensor(x, 0.5, 0, "signs").tolist() == [[-0.5, 0.5, 0.5], [0.5, -0.5, -0.5]]
    p = lamella.quantize_per_channel(x, lamella.tensor([1.0, 2.0, 4.0]), None, 1, "signs")
    assert p.tolist() == [[-1, 2, 4], [1, -2, -4]] and p.nbytes == 3 and p.T[2].tolist() == [4, -4]
    g = quantization.quantize(x, "signs", group_size=3)
    assert g.tolist() == [[-5, 5, 5], [2, -2, -2]] and g.qscheme() is lamella.per_group_symmetric
    assert lamella.nn.functional.linear(lamella.ones(1, 3), g).tolist() == [[5, -2]]
    g[0] = lamella.tensor([1.0, -1.0, 1.0])
    assert g.tolist()[0] == [5, -5, 5]
    with quantization.out_scale(3.0):
        assert (g * 2).tolist() == [[3, -3, 3], [3, -3, -3]]


def test_a_kernel_of_a_type_serves_its_operator():
    seen = []

    def linear(input, weight, bias=None):
        seen.append(quantization.scheme(weight)["type"])
        return lamella.zeros(input.shape[0], weight.shape[0])

    made = quantization.register_type(
        "blind", bits=8, largest=1.0, encode=lambda x: x.to(lamella.uint8), decode=lambda c: c.float(),
        kernels={"aten::linear": linear},
    )  # fmt: skip
    q = lamella.quantize_per_tensor(lamella.ones(2, 3), 1.0, 0, "blind")
    with quantization.trace() as calls, quantization.strict():
        assert lamella.nn.functional.linear(lamella.ones(1, 3), q).tolist() == [[0, 0]]
    assert seen == ["blind"] and [c.way for c in calls] == ["native"]
    made.close()


def test_max_pools_need_codes_in_the_order_of_values():
    made = quantization.register_type(
        "magnitudes", bits=8, largest=127.0,
        encode=lambda x: (x.abs().round() + 128 * (x < 0)).to(lamella.uint8),
        decode=lambda c: lamella.where(c > 127, 128 - c.float(), c.float()),
    )  # fmt: skip
    q = lamella.quantize_per_tensor(lamella.tensor([[[-3.0, 2.0, -5.0, -1.0]]]), 1.0, 0, "magnitudes")
    assert q.tolist() == [[[-3, 2, -5, -1]]] and q.flip(2).tolist() == [[[-1, -5, 2, -3]]]
    with pytest.raises(NotImplementedError, match="order"):
        lamella.nn.functional.max_pool1d(q, 2)
    made.close()


def test_bad_types(signs):
    def encode(x):
        return x

    for options, error, text in (
        ({"name": "signs", "bits": 4, "largest": 1.0}, RuntimeError, "'signs' already"),
        ({"name": "other", "bits": 5, "largest": 1.0}, ValueError, "'bits'"),
        ({"name": "other", "bits": 4, "largest": 0.0}, ValueError, "'largest'"),
        ({"name": "int8", "bits": 8, "largest": 1.0}, RuntimeError, "'int8' already"),
    ):
        with pytest.raises(error, match=text):
            quantization.register_type(**options, encode=encode, decode=encode)
    with pytest.raises(ValueError, match="'zero_point'"):
        lamella.quantize_per_tensor(lamella.ones(2), 1.0, 1, "signs")
    wrong = quantization.register_type("wrong", bits=8, largest=1.0, encode=lambda x: x[:1], decode=encode)
    with pytest.raises(TypeError, match="encode.*an element for each"):
        lamella.quantize_per_tensor(lamella.ones(2), 1.0, 0, "wrong")
    wrong.close()


def test_a_withdrawn_type(signs, tmp_path):
    q = lamella.quantize_per_tensor(lamella.tensor([-1.0, 1.0]), 0.5, 0, "signs")
    lamella.save(q, tmp_path / "q.lamella")
    signs.close()
    with pytest.raises(lamella.serialization.CheckpointError, match="no numeric type 'signs'"):
        lamella.load(tmp_path / "q.lamella")
    with pytest.raises(ValueError, match="no numeric type 'signs'"):
        lamella.quantize_per_tensor(lamella.ones(2), 1.0, 0, "signs")
    assert q.int_repr().tolist() == [0, 1] and q.tolist() == [-0.5, 0.5]
    tens = quantization.register_type(
        "signs", bits=8, largest=1.0, encode=lambda x: x.to(lamella.uint8), decode=lambda c: c.float() * 10
    )
    assert q.tolist() == [-0.5, 0.5] and lamella.quantize_per_tensor(lamella.ones(1), 1.0, 0, "signs").tolist() == [10]
    tens.close()


# ---- packages -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def guest(tmp_path_factory, wheels):
    """Makes an environment with the two example packages."""
    root = tmp_path_factory.mktemp("numeric_types")
    python = fresh_environment(root / "venv")
    names = ("lamella-nf4", "lamella-fp8-blocks")
    install = ("install", "-q", "--no-deps", "--no-index", "--force-reinstall", "--find-links", wheels, *names)
    run(*PIP, "--python", python, *install, cwd=root)
    return Guest(python, root)


@pytest.mark.parametrize("package", ["nf4", "fp8_blocks"])
def test_the_readme_of_a_package(guest, package):
    text = (EXAMPLES / package / "README.md").read_text()
    [program], [printed] = (re.findall(rf"```{kind}\n(.*?)```", text, re.DOTALL) for kind in ("python", "text"))
    assert guest.run(program) == printed
    examples = (EXAMPLES / package / f"lamella_{package}" / "__init__.py").read_text()
    guest.run(
        f"import doctest, lamella_{package} as m\nassert doctest.testmod(m, optionflags=doctest.ELLIPSIS).failed == 0"
    )
    assert ">>> " in examples


def test_nf4_is_near_its_source(guest):
    """Codes are those of the nearest number, and the error of normal weights is that of the paper's type."""
    guest.run("""
import copy, pickle
import lamella, numpy as np, lamella_nf4
w = np.random.default_rng(0).normal(size=(64, 128)).astype("float32")
q = lamella.quantization.quantize(lamella.tensor(w), "nf4", group_size=64)
scale = np.abs(w.reshape(64, 2, 64)).max(2)
numbers = np.array(lamella_nf4.NUMBERS, "float32")
near = np.abs((w.reshape(64, 2, 64, 1) / scale[..., None, None]) - numbers).argmin(-1).reshape(w.shape)
codes = q.int_repr().numpy()
assert (codes != near).mean() < 1e-3  # the middle between two numbers may go to either
np.testing.assert_allclose(q.numpy(), numbers[codes] * np.repeat(scale, 64, 1), rtol=1e-6)
int4 = lamella.quantization.quantize(lamella.tensor(w), "int4", group_size=64)
error = lambda t: float(np.square(t.numpy() - w).mean())
assert error(q) < error(int4)
assert q.nbytes == 64 * 64 and q[3:, ::2].tolist() == q.dequantize()[3:, ::2].tolist()
lamella.save({"w": q}, "nf4.lamella")
for twin in (copy.deepcopy(q), pickle.loads(pickle.dumps(q)), lamella.load("nf4.lamella")["w"], q.clone()):
    assert twin.dequantize().equal(q.dequantize())
x = lamella.tensor(w[:3, :])
assert lamella.nn.functional.linear(x, q).allclose(x @ q.dequantize().T, atol=1e-4)
assert lamella.nn.functional.linear(lamella.tensor(w[:3, :64]).T[:0].reshape(0, 128), q).shape == (0, 64)
""")


def test_a_file_without_the_package_names_the_type(guest, host_without):
    guest.run("""
import lamella
lamella.save(lamella.quantization.quantize(lamella.ones(2, 64), "nf4", group_size=64), "w.lamella")
""")
    host_without(
        guest.folder,
        """
import lamella
try:
    lamella.load("w.lamella")
except lamella.serialization.CheckpointError as error:
    assert "numeric type 'nf4'" in str(error) and "package" in str(error), error
else:
    raise AssertionError
""",
    )


@pytest.fixture
def host_without():
    """Runs a program in a folder with the Python of the tests, which lacks the packages."""
    import sys

    return lambda folder, program: Guest(sys.executable, folder).run(program)


def test_fp8_has_its_own_kernel(guest):
    guest.run("""
import lamella, ml_dtypes, numpy as np
w = np.random.default_rng(0).normal(size=(16, 64)).astype("float32")
q = lamella.quantization.quantize(lamella.tensor(w), "fp8_e4m3", axis=0)
scale = (np.abs(w).max(1) / np.float32(448)).astype("float32")
floats = (w / scale[:, None]).astype(ml_dtypes.float8_e4m3fn)
assert (q.int_repr().numpy() == floats.view("uint8")).all()
x = lamella.tensor(w[:3])
with lamella.quantization.trace() as calls:
    y = lamella.nn.functional.linear(x, q)
    z = lamella.nn.functional.linear(x, lamella.quantization.quantize(lamella.tensor(w), "fp8_e4m3", group_size=32))
assert [c.way for c in calls][:2] == ["native", "native"]
wanted = w[:3] @ (floats.astype("float32") * scale[:, None]).T
np.testing.assert_allclose(y.numpy(), wanted, rtol=1e-4, atol=1e-4)
assert np.abs(z.numpy() - wanted).max() < 0.5
""")


def test_a_file_without_the_plugin_names_it(tmp_path):
    lamella.save(lamella.quantize_per_tensor(lamella.ones(2), 0.5, 0, "int8"), tmp_path / "q.lamella")
    import sys

    Guest(sys.executable, tmp_path, {"LAMELLA_PLUGINS": "-quantization"}).run("""
import lamella
try:
    lamella.load("q.lamella")
except lamella.serialization.CheckpointError as error:
    assert "['quantization']" in str(error) and "plugins" in str(error), error
else:
    raise AssertionError
try:
    lamella.quantization
except AttributeError as error:
    assert "quantization" in str(error) and "LAMELLA_PLUGINS" in str(error), error
assert lamella.ones(2).is_quantized is False
""")
