"""Extensions that were written for torch's C++, compiled unchanged with compat="torch"; numpy gives the values."""

import itertools
import sys
from pathlib import Path

import lamella
import numpy as np
import pytest
from children import run
from environments import PIP, fresh_environment
from lamella.extensions import build_library
from lamella.utils.cpp_extension import load, load_inline

HERE = Path(__file__).resolve().parent / "torch_sources"
needs_autograd = pytest.mark.needs("autograd")
pytestmark = pytest.mark.usefixtures("torch_precompiled")


def built(name):
    return load(name, HERE / f"{name}.cpp", compat="torch")


def draw(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def tensors(*arrays, **keywords):
    return [lamella.tensor(a, **keywords) for a in arrays]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def cell(x, w, b, h, c):
    """Computes the recurrent cell in numpy."""
    linear = np.concatenate([h, x], 1) @ w.T + b
    into, out, candidate = np.split(linear, 3, 1)
    c = c + np.where(candidate > 0, candidate, np.expm1(np.minimum(candidate, 0))) * sigmoid(into)
    return np.tanh(c) * sigmoid(out), c


@needs_autograd
@pytest.mark.long
def test_a_recurrent_cell():
    cell_cpp = built("cell")

    class Cell(lamella.autograd.Function):
        @staticmethod
        def forward(ctx, x, w, b, h, c):
            hidden, cell, *kept = cell_cpp.forward(x, w, b, h, c)
            ctx.save_for_backward(cell, *kept, w)
            return hidden, cell

        @staticmethod
        def backward(ctx, grad_hidden, grad_cell):
            return tuple(cell_cpp.backward(grad_hidden, grad_cell, *ctx.saved_tensors))

    arrays = [
        draw(*shape, seed=i).astype(np.float64) for i, shape in enumerate([(4, 3), (15, 8), (1, 15), (4, 5), (4, 5)])
    ]
    wanted = cell(*arrays)
    for got, value in zip(Cell.apply(*tensors(*arrays)), wanted, strict=True):
        np.testing.assert_allclose(got.numpy(), value, rtol=1e-10)
    assert lamella.autograd.gradcheck(Cell.apply, tuple(tensors(*arrays, requires_grad=True)))
    with pytest.raises(RuntimeError, match="cell: input has 2 rows, hidden 4"):
        cell_cpp.forward(*tensors(arrays[0][:2], *arrays[1:]))


PACKAGE = """
from setuptools import setup
from lamella.extensions import build_library
from lamella.utils.cpp_extension import BuildExtension, CppExtension

setup(
    name="fused-ops",
    version="1.0",
    packages=["fused_ops"],
    ext_modules=[CppExtension("fused_ops.fused", ["fused.cpp"], compat="torch", py_limited_api=True,
                              extra_compile_args={"cxx": ["-O1", "-DPy_LIMITED_API=0x03090000"]})],
    cmdclass={"build_ext": BuildExtension},
    options={"bdist_wheel": {"py_limited_api": "cp39"}},
)
"""
RULES = """
import lamella as torch
from . import fused

@torch.library.register_fake("fused::axpy")
def _(a, b, c):
    assert a.shape == b.shape
    return torch.empty_like(a)

def setup_context(ctx, inputs, output):
    a, b, c = inputs
    ctx.save_for_backward(b if ctx.needs_input_grad[0] else None, a if ctx.needs_input_grad[1] else None)

def backward(ctx, grad):
    b, a = ctx.saved_tensors
    times = lambda x: None if x is None else torch.ops.fused.product(grad.contiguous(), x)
    return times(b), times(a), None

torch.library.register_autograd("fused::axpy", backward, setup_context=setup_context)
"""


@needs_autograd
@pytest.mark.long
def test_a_package_whose_module_is_empty(tmp_path):
    """The wheel of an operator with a fake and a gradient in Python is installed in its own environment."""
    (tmp_path / "fused_ops").mkdir()
    (tmp_path / "setup.py").write_text(PACKAGE)
    (tmp_path / "fused_ops/__init__.py").write_text(RULES)
    (tmp_path / "fused.cpp").write_text((HERE / "fused.cpp").read_text())
    run(*PIP, "wheel", "-q", "--no-build-isolation", "--no-deps", "--no-index", "-w", "dist", ".", cwd=tmp_path)
    python = fresh_environment(tmp_path / "venv")
    run(
        *PIP,
        "--python",
        python,
        "install",
        "-q",
        "--no-deps",
        "--no-index",
        *(tmp_path / "dist").glob("*.whl"),
        cwd=tmp_path,
    )
    (tmp_path / "use.py").write_text(
        """
import sys
sys.path.remove(sys.path[0])
import fused_ops, lamella
import lamella as torch
a, b = torch.rand(3, 4, requires_grad=True), torch.rand(3, 4, requires_grad=True)
y = torch.ops.fused.axpy(a, b, 2.5)
assert torch.allclose(y.detach(), a.detach() * b.detach() + 2.5)
y.sum().backward()
assert torch.equal(a.grad, b.detach()) and torch.equal(b.grad, a.detach())
assert torch.ops.fused.axpy(a.to("meta"), b.to("meta"), 1.0).shape == (3, 4)
out = torch.zeros(3, 4)
torch.ops.fused.sum_into(a.detach(), b.detach(), out)
assert torch.equal(out, a.detach() + b.detach())
torch.library.opcheck("fused::axpy", (torch.rand(3), torch.rand(3), 1.0))
try:
    torch.ops.fused.axpy(torch.rand(2), torch.rand(3), 1.0)
except RuntimeError as error:
    assert "axpy: shapes [2] and [3]" in str(error), error
else:
    raise SystemExit("no error")
"""
    )
    run(python, tmp_path / "use.py", cwd=tmp_path)


@pytest.mark.long
def test_suppression_of_boxes():
    ops = built("boxes")
    rng = np.random.default_rng(1)
    low = rng.random((60, 2)) * 5
    boxes, scores = np.concatenate([low, low + 0.5 + rng.random((60, 2)) * 3], 1), rng.random(60)
    kept = []
    for i in np.argsort(-scores, kind="stable"):
        shared = [
            np.prod(np.maximum(0, np.minimum(boxes[i, 2:], boxes[j, 2:]) - np.maximum(boxes[i, :2], boxes[j, :2])))
            for j in kept
        ]
        area = np.prod(boxes[:, 2:] - boxes[:, :2], 1)
        if all(s / (area[i] + area[j] - s) <= 0.4 for s, j in zip(shared, kept, strict=True)):
            kept.append(int(i))
    assert 5 < len(kept) < 55
    assert ops.suppress(*tensors(boxes, scores), 0.4).tolist() == kept
    assert ops.suppress(lamella.zeros(0, 4), lamella.zeros(0), 0.4).tolist() == []
    with pytest.raises(ValueError, match="corners are float32, scores float64"):
        ops.suppress(lamella.zeros(1, 4), lamella.zeros(1, dtype=lamella.float64), 0.4)
    with pytest.raises(RuntimeError, match=r"got \[3\]"):
        ops.suppress(lamella.zeros(3), lamella.zeros(3), 0.4)


@pytest.mark.parametrize("dtype, pointers", [*itertools.product(["float32", "float16", "int64"], ["int32", "int64"])])
@pytest.mark.long
def test_sums_of_segments(dtype, pointers):
    ops = built("segments")
    x, at = (draw(9, 4) * 4).astype(dtype), np.array([0, 2, 2, 9], pointers)
    wanted = np.stack([x[a:b].astype(np.float64).sum(0) for a, b in itertools.pairwise(at)])
    got = ops.segment_sum(*tensors(x, at))
    np.testing.assert_allclose(got.numpy().astype(np.float64), wanted, rtol=2e-3 if dtype == "float16" else 1e-5)
    given = lamella.zeros(3, 4, dtype=got.dtype)
    assert lamella.equal(ops.segment_sum(*tensors(x, at), given), got) and lamella.equal(given, got)
    assert str(ops.segment_mean_and_count.schemas[0]) == (
        "segments::segment_mean_and_count(Tensor _0, Tensor _1) -> (Tensor, Tensor)"
    )
    if dtype == "float32":
        mean, count = ops.segment_mean_and_count(*tensors(x, at))
        assert count.tolist() == [2, 0, 7]
        np.testing.assert_allclose(mean.numpy(), wanted / np.array([[2], [1], [7]]), rtol=1e-5)


@needs_autograd
def test_gradients_of_segments():
    ops = built("segments")
    at = lamella.tensor([0, 2, 2, 9])
    x = lamella.tensor(draw(9, 4).astype(np.float64), requires_grad=True)
    assert lamella.autograd.gradcheck(lambda x: ops.segment_sum(x, at), (x,))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.long
def test_nearest_neighbours(dtype):
    ops = built("nearest")
    queries, points = draw(40, 3).astype(dtype), draw(50, 3, seed=1).astype(dtype)
    distances = ((queries[:, None].astype(np.float64) - points.astype(np.float64)) ** 2).sum(-1)
    for op in (ops.nearest, ops.through_the_dispatcher):
        assert op(*tensors(queries, points)).tolist() == distances.argmin(1).tolist()
    meta = ops.nearest(lamella.zeros(7, 3, device="meta"), lamella.zeros(5, 3, device="meta"))
    assert meta.shape == (7,) and meta.dtype is lamella.int64 and meta.is_meta
    with pytest.raises(RuntimeError, match="expected queries.scalar_type.. == points.scalar_type"):
        ops.nearest(lamella.zeros(1, 3), lamella.zeros(1, 3, dtype=lamella.float64))


def test_a_reduction_in_parallel():
    x = draw(1234)
    assert built("nearest").farthest(lamella.tensor(x)) == np.abs(x).max()


@pytest.mark.parametrize("bias, silu", [*itertools.product([False, True], [False, True])])
@pytest.mark.long
def test_a_causal_convolution(bias, silu):
    module = built("causal")
    x, w, b = draw(2, 3, 7), draw(3, 4, seed=1), draw(3, seed=2)
    wanted = np.stack([[np.convolve(row, k[::-1])[: x.shape[2]] for row, k in zip(each, w, strict=True)] for each in x])
    wanted += b[:, None] * bias
    if silu:
        wanted = wanted * sigmoid(wanted)
    got = module.causal_forward(*tensors(x, w), lamella.tensor(b) if bias else None, silu_activation=silu)
    np.testing.assert_allclose(got.numpy(), wanted, rtol=1e-4, atol=1e-5)
    with pytest.raises(RuntimeError, match=r"weight must have shape \(dim, width\)"):
        module.causal_forward(lamella.tensor(x), lamella.zeros(2, 4))
    with pytest.raises(RuntimeError, match="x must be contiguous"):
        module.causal_forward(lamella.tensor(x).transpose(0, 1), lamella.zeros(2, 4))


@pytest.mark.parametrize("dtype, nesterov", [*itertools.product(["float32", "float16", "float64"], [False, True])])
@pytest.mark.long
def test_a_step_of_an_optimizer(dtype, nesterov):
    built("steps")
    ops = lamella.ops.steps
    arrays = [[draw(5, seed=i), draw(3, 4, seed=i + 3)] for i in range(3)]
    params, grads, buffers = ([lamella.tensor(a.astype(dtype)) for a in row] for row in arrays)
    ops.momentum_step_(params, grads, buffers, 0.1, nesterov=nesterov)
    for p, g, b, got in zip(*arrays, params, strict=True):
        kept = b * 0.9 + g
        wanted = p - 0.1 * (g + 0.9 * kept if nesterov else kept)
        np.testing.assert_allclose(got.numpy().astype(np.float32), wanted, rtol=2e-2 if dtype == "float16" else 1e-5)
    norm = np.sqrt(sum((g.numpy().astype(np.float64) ** 2).sum() for g in grads))
    assert abs(ops.total_norm(grads).item() / norm - 1) < 1e-2
    assert ops.total_norm([]).item() == 0


@pytest.mark.long
def test_a_rotation():
    ops = built("rotary")
    x, angles = draw(2, 5, 8), draw(5, 4, seed=1)
    turned = (x[..., :4] + 1j * x[..., 4:]) * np.exp(1j * angles)
    got = ops.rotate(*tensors(x, angles))
    np.testing.assert_allclose(got.numpy(), np.concatenate([turned.real, turned.imag], -1), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(ops.rotate(got, lamella.tensor(angles), True).numpy(), x, rtol=1e-4, atol=1e-5)


@needs_autograd
def test_a_function_under_the_key_autograd():
    ops = built("rotary")
    x, angles = tensors(draw(5, 8).astype(np.float64), draw(5, 4, seed=1).astype(np.float64))
    x.requires_grad_()
    assert ops.rotate(x, angles).grad_fn is not None
    assert lamella.autograd.gradcheck(lambda x: ops.rotate(x, angles), (x,))


@pytest.mark.long
def test_small_things():
    module = built("tables")
    assert module.look_up(lamella.tensor([[2], [0]])).tolist() == [[4, 5], [0, 1]]
    assert module.look_up(lamella.tensor([1]), lamella.int64).dtype is lamella.int64
    with pytest.raises(IndexError, match="the table has 3 rows"):
        module.look_up(lamella.tensor([3]))
    with pytest.raises(TypeError, match="indices must be integers"):
        module.look_up(lamella.tensor([1.0]))
    one, number, text = module.about(lamella.zeros(2, 2), [2, 3], "x")
    assert one.tolist() == [[5] * 3] * 2 and number == 7 and text == "x:cpu:float32"
    assert module.clipped(lamella.tensor([-2.0, 0.5, 2.0]), -1, 1).tolist() == [0, 0.5, 0]
    with pytest.raises(RuntimeError, match="clipped: 2 > 1"):
        module.clipped(lamella.zeros(1), 2, 1)


@pytest.mark.long
def test_inline_sources():
    ops = load_inline(
        "inline_torch",
        """
        at::Tensor twice(const at::Tensor& x) { return x * 2; }
        TORCH_LIBRARY(inline_torch, m) { m.def("twice", &twice); }
        """,
        compat="torch",
    )
    assert ops.twice(lamella.ones(2)).tolist() == [2, 2]
    module = load_inline(
        "inline_module",
        "torch::Tensor thrice(torch::Tensor x) { return x * 3; }",
        functions=["thrice"],
        compat="torch",
    )
    assert module.thrice(lamella.ones(2)).tolist() == [3, 3]


INDICES = [
    ("0", (0,)),
    ("-1, None, 1", (-1, None, 1)),
    ("None, Ellipsis, 0", (None, ..., 0)),
    ('"...", Slice(1, None, 2)', (..., slice(1, None, 2))),
    ("Slice(-2), 1, Slice(None, -1), Slice()", (slice(-2, None), 1, slice(None, -1), slice(None))),
    ("true", (True,)),
    ("false, 1", (False, 1)),
    ("mask", ("mask",)),
    ("mask, last2", ("mask", "last2")),
    ("Slice(), Slice(), last2, last", (slice(None), slice(None), "last2", "last")),
    ("first, Slice(), last2", ("first", slice(None), "last2")),
    ("first, None, Slice(), last2", ("first", None, slice(None), "last2")),
    ("Slice(), one, Slice(1, None)", (slice(None), 1, slice(1, None))),
    ("no, torch::tensor({1})", (False, np.array([1]))),
    ("at::Tensor(), 1", (slice(None), 1)),
    ("Ellipsis, one", (..., 1)),
]


@pytest.fixture(scope="module")
def picks():
    """Builds an operator that reads, or writes, by each of these indices."""
    cases = "\n".join(
        f"    case {i}: if (put.defined()) return x.index_put_({{{cpp}}}, put); return x.index({{{cpp}}});"
        for i, (cpp, _) in enumerate(INDICES)
    )
    return load_inline(
        "picks",
        """
using namespace torch::indexing;
at::Tensor pick(at::Tensor x, int64_t kind, at::Tensor mask, at::Tensor first, at::Tensor last2, at::Tensor last,
                const at::Tensor& put) {
  const at::Tensor one = torch::tensor(1), no = torch::zeros({}, torch::kBool);
  switch (kind) {
CASES
  }
  AT_ERROR("no such kind");
}
TORCH_LIBRARY(picks, m) {
  m.def("pick(Tensor x, int kind, Tensor mask, Tensor first, Tensor last2, Tensor last) -> Tensor",
        [](const at::Tensor& x, int64_t kind, const at::Tensor& mask, const at::Tensor& first, const at::Tensor& last2,
           const at::Tensor& last) { return pick(x, kind, mask, first, last2, last, {}).clone(); });
  m.def("put(Tensor x, int kind, Tensor mask, Tensor first, Tensor last2, Tensor last, Tensor value) -> Tensor",
        [](const at::Tensor& x, int64_t kind, const at::Tensor& mask, const at::Tensor& first, const at::Tensor& last2,
           const at::Tensor& last, const at::Tensor& value) {
          return pick(x.clone(), kind, mask, first, last2, last, value);
        });
}
""".replace("CASES", cases),
        compat="torch",
    )


@pytest.mark.parametrize("kind", range(len(INDICES)), ids=[cpp for cpp, _ in INDICES])
def test_indices_as_python_writes_them(picks, kind):
    x = draw(2, 3, 4, 5)
    arrays = {
        "mask": np.array([[True, False, True], [False, True, False]]),
        "first": np.array([1, 0, 1]),
        "last2": np.array([3, 0, 2]),
        "last": np.array([4, 1, 0]),
    }
    at = tuple(arrays.get(i, i) if isinstance(i, str) else i for i in INDICES[kind][1])
    operands = tensors(x, *arrays.values())
    np.testing.assert_array_equal(picks.pick(operands[0], kind, *operands[1:]).numpy(), x[at])
    for value in (np.float32(7), draw(1, 1, *x[at].shape[-1:], seed=3)):
        wanted = x.copy()
        wanted[at] = value.reshape(value.shape[-1:]) if value.ndim else value
        got = picks.put(operands[0], kind, *operands[1:], lamella.tensor(value))
        np.testing.assert_array_equal(got.numpy(), wanted)


@needs_autograd
@pytest.mark.long
def test_things_that_are_easily_missed():
    ops = load_inline(
        "missed",
        """
using torch::autograd::AutogradContext;
struct Square : torch::autograd::Function<Square> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, c10::optional<int64_t> n) {
    ctx->save_for_backward({x});
    ctx->saved_data["n"] = n;
    ctx->saved_data["none"] = c10::optional<double>();
    ctx->saved_data["ints"] = std::vector<int>{1, 2};
    ctx->saved_data["numbers"] = at::ArrayRef<double>(std::vector<double>{0.5}.data(), 1);
    ctx->saved_data["type"] = x.scalar_type();
    at::AutoGradMode on(true);
    TORCH_CHECK(at::GradMode::is_enabled());
    const auto inner = x.detach().requires_grad_(true);
    TORCH_CHECK((inner * 2).requires_grad(), "it is recorded in a block that says so");
    return x * x;
  }
  static torch::autograd::variable_list backward(AutogradContext* ctx, torch::autograd::variable_list grads) {
    TORCH_CHECK(ctx->saved_data["none"].isNone() && ctx->saved_data["ints"].toIntVector().size() == 2);
    TORCH_CHECK(ctx->saved_data["type"].toScalarType() == at::kFloat);
    TORCH_CHECK(ctx->saved_data["numbers"].toDoubleVector().size() == 1);
    return {grads[0] * 2 * ctx->get_saved_variables()[0] * ctx->saved_data["n"].toInt(), at::Tensor()};
  }
};
TORCH_LIBRARY(missed, m) {
  m.def("square(Tensor x) -> Tensor");
  m.impl("square", torch::dispatch(c10::DispatchKey::CPU, [](const at::Tensor& x) { return x * x; }));
  const auto recorded = [](const at::Tensor& x) { return Square::apply(x, 3); };
  m.impl("square", torch::dispatch(c10::DispatchKey::Autograd, recorded));
  m.def("both_", [](at::Tensor& x, at::Tensor& y) { x.add_(1), y.add_(2); });
  m.def("all_true", [](int64_t n) {
    return at::parallel_reduce(int64_t{0}, n, int64_t{1}, true, [](int64_t, int64_t, bool) { return true; },
                               [](bool a, bool b) { return a && b; });
  });
  m.def("misc(Tensor x) -> str", [](const at::Tensor& x) {
    int64_t sum = 0;
    for (const auto i : c10::irange(1, x.dim())) sum += i;
    for (const auto i : c10::irange(0, x.size(0))) sum += i;
    TORCH_CHECK(at::kCPU == x.device() && x.device() == at::kCPU && torch::empty({2}, torch::kCPU).size(0) == 2);
    TORCH_CHECK(x.suggest_memory_format() == at::MemoryFormat::ChannelsLast);
    return std::to_string(sum) + std::string(c10::toString(torch::tensor({1.5}).scalar_type()));
  });
  m.def("wrong_kind() -> int", [] { return lamella::SavedValue("text").toInt(); });
}
""",
        compat="torch",
    )
    x = lamella.tensor([2.0], requires_grad=True)
    ops.square(x).sum().backward()
    assert x.grad.tolist() == [12] and ops.square(lamella.ones(1)).tolist() == [1]
    assert str(ops.both_.schemas[0]) == "missed::both_(Tensor(a!) _0, Tensor(b!) _1) -> ()"
    assert all(ops.all_true(64) for _ in range(200)) and ops.all_true(0)
    lamella.set_default_dtype(lamella.float64)
    images = lamella.zeros(3, 2, 4, 5).to(memory_format=lamella.channels_last)
    assert ops.misc(images) == "9float64"
    with pytest.raises(TypeError, match="saved_data: expected a number, saved was std::.*string"):
        ops.wrong_kind()


def test_checks_of_arguments():
    ops = load_inline(
        "checked_arguments",
        """
at::Tensor kept(const at::Tensor& boxes, const at::Tensor& scores) {
  at::TensorArg boxes_arg{boxes, "boxes", 1}, scores_arg{scores, "scores", 2};
  at::CheckedFrom c = "kept";
  at::checkAllSameType(c, {boxes_arg, scores_arg});
  at::checkDim(c, boxes_arg, 2);
  at::checkSize(c, boxes_arg, 1, 4);
  at::checkContiguous(c, scores_arg);
  std::cout << "";
  return scores;
}
TORCH_LIBRARY(checked_arguments, m) { m.def("kept(Tensor(a) boxes, Tensor(b) scores) -> Tensor(b)"); }
TORCH_LIBRARY_IMPL(checked_arguments, CompositeImplicitAutograd, m) { m.impl("kept", torch::kCPU, &kept); }
""",
        compat="torch",
    )
    scores = lamella.ones(3)
    assert ops.kept(lamella.ones(3, 4), scores) is scores
    for boxes, words in (
        (lamella.ones(3, 4, dtype=lamella.float64), r"kept: argument 'scores' \(#2\): expected dtype .*float64"),
        (lamella.ones(12), r"kept: argument 'boxes' \(#1\): expected 2 dimensions, got shape \(12\)"),
        (lamella.ones(4, 3), "expected size 4 in dimension 1"),
    ):
        with pytest.raises(RuntimeError, match=words):
            ops.kept(boxes, scores)


@pytest.mark.parametrize(
    "includes",
    [
        "#include <torch/extension.h>",
        "#include <torch/library.h>\n#include <Python.h>",
        "#include <Python.h>\n#include <torch/all.h>",
    ],
)
@pytest.mark.long
def test_a_module_by_hand_whatever_is_included_first(includes, tmp_path):
    """Python imports the file without load(), as from a package; the registrations still run."""
    name = f"by_hand_{len(includes)}"
    source = tmp_path / f"{name}.cpp"
    source.write_text(
        f"""{includes}
extern "C" PyObject* PyInit_{name}(void) {{
  static struct PyModuleDef definition = {{PyModuleDef_HEAD_INIT, "{name}", NULL, -1, NULL, NULL, NULL, NULL, NULL}};
  return PyModule_Create(&definition);
}}
TORCH_LIBRARY({name}, m) {{ m.def("twice", [](const at::Tensor& x) {{ return x * 2; }}); }}
"""
    )
    built = build_library(name, [source], compat="torch")
    copy = tmp_path / f"{name}.so"
    copy.write_bytes(built.read_bytes())
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import {name}, lamella; "
    program += f"print(lamella.ops.{name}.twice(lamella.ones(2)).tolist())"
    assert run(sys.executable, "-c", program, cwd=tmp_path) == "[2.0, 2.0]\n"


def test_another_framework():
    with pytest.raises(ValueError, match="argument 'compat': expected 'torch' or None, got 'jax'"):
        load_inline("other", "", compat="jax")
