"""Operators of others in traces and scripts: of custom_op, of a library in Python, of an extension in C++."""

import io

import lamella
import pytest
from lamella import jit
from lamella.utils.cpp_extension import load_inline


@lamella.library.custom_op("program_ops::scaled", mutates_args=())
def scaled(x: lamella.Tensor, n: float = 2.0) -> lamella.Tensor:
    return x * n


def remember(ctx, inputs, output):
    ctx.n = inputs[1]


def backward(ctx, grad):
    return grad * ctx.n * 10, None  # not the derivative, so that a test sees who computed it


scaled.register_autograd(backward, setup_context=remember)


@pytest.fixture(scope="module")
def library():
    made = lamella.library.Library("program_lib", "DEF", version=3)
    made.define("softsign(Tensor self) -> Tensor")
    made.define("grow_(Tensor(a!) self, Scalar by) -> Tensor(a!)")
    made.define("sums(Tensor[] parts, float[] weights, str? unit=None) -> (Tensor, int)")
    made.impl("softsign", lambda x: x / (1 + x.abs()), "composite")
    made.impl("grow_", lambda x, by: x.add_(by), "composite")
    made.impl("sums", lambda parts, weights, unit=None: (sum(map(mul, parts, weights)), len(unit or "")), "composite")
    yield made
    made.close()


def mul(a, b):
    return a * b


def called_by_name(x):
    return scaled(x) + lamella.ops.program_ops.scaled(x, n=3)


def written(x):
    y = x.clone()
    lamella.ops.program_lib.grow_(y, 1)
    z = y * 2
    last = lamella.ops.program_lib.grow_(z[0], 5)
    return y, lamella.ops.program_lib.softsign(z), last


def several(x):
    total, letters = lamella.ops.program_lib.sums([x, x + 1], [2.0, 0.5], unit="cm")
    return total * letters


def loaded(program):
    file = io.BytesIO()
    program.save(file)
    file.seek(0)
    return jit.load(file)


MAKERS = {
    "script": lambda f, x: jit.script(f),
    "trace": jit.trace,
    "script, loaded": lambda f, x: loaded(jit.script(f)),
    "trace, loaded": lambda f, x: loaded(jit.trace(f, x)),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_operators_in_python(library, make):
    x = lamella.tensor([[0.5, -3.0], [2.0, 0.0]])
    assert make(called_by_name, x)(x).tolist() == (x.numpy() * 5).tolist()
    program = make(written, x)
    for given in (x, x * 3):
        found = program(given)
        y = given.numpy() + 1
        z = y * 2
        z[0] += 5
        assert [t.tolist() for t in found] == [y.tolist(), (z / (1 + abs(z))).tolist(), z[0].tolist()]
    leaf = x.clone().requires_grad_()
    make(called_by_name, x)(leaf).sum().backward()
    assert leaf.grad.tolist() == [[50.0, 50.0], [50.0, 50.0]]


def test_several_results(library):
    x = lamella.tensor([1.0, 2.0])
    for program in (jit.script(several), loaded(jit.script(several))):
        assert program(x).tolist() == [(2 * v + 0.5 * (v + 1)) * 2 for v in (1.0, 2.0)]
    with pytest.raises(RuntimeError, match=r"is read \(program_lib::sums\) at .*test_custom_operators.*:\d+"):
        jit.trace(several, x)  # a recording has no value for an int that an operator gives


def test_passes_leave_a_write_of_another_s_operator():
    """Between two equal calls stands a write that its signature declares."""
    library = lamella.library.Library("program_writes", "DEF")
    library.define("bump_(Tensor(a!) self) -> Tensor(a!)")
    library.impl("bump_", lambda x: x.add_(1), "composite")

    def reads_twice(x):
        y = x.clone()
        a = y.sum()
        lamella.ops.program_writes.bump_(y)
        return a, y.sum()

    program = jit.script(reads_twice)
    for name in ("cse", "peephole", "dce"):
        lamella.graph.run_pass(name, program.graph)
    assert [float(t) for t in program(lamella.zeros(3))] == [0.0, 3.0]
    library.close()


def test_an_operator_that_is_withdrawn():
    library = lamella.library.Library("program_gone", "DEF", owner="a package")
    library.define("twice(Tensor self) -> Tensor")
    library.impl("twice", lambda x: x * 2, "composite")

    def twice(x):
        return lamella.ops.program_gone.twice(x)

    program, file = jit.script(twice), io.BytesIO()
    program.save(file)
    assert program(lamella.ones(1)).item() == 2.0
    library.close()
    with pytest.raises(RuntimeError, match="operator program_gone::twice was withdrawn by a package"):
        program(lamella.ones(1))
    file.seek(0)
    with pytest.raises(lamella.serialization.CheckpointError, match="operators that are not here: program_gone::twice"):
        jit.load(file)


CPP = """
#include <lamella/pointwise.h>
using namespace lamella::pointwise;

struct program_cube : Maths<1, ORDERED> {
  template <class T>
  static T apply(T x) { return x * x * x; }
};

LAMELLA_LIBRARY(program_cpp, m) {
  lamella::define_pointwise<program_cube>(m, "cube(Tensor self) -> Tensor");
  m.derivative("program_cpp::cube", "self: grad * 3 * square(self)");
}
"""


def cubes(x, n: int):
    for _ in range(n):
        x = lamella.ops.program_cpp.cube(x) + 1
    return x


def test_an_extension_in_cpp(tmp_path_factory):
    load_inline("program_cpp", CPP, no_implicit_headers=True, build_directory=str(tmp_path_factory.mktemp("cube")))
    x = lamella.tensor([0.5, -1.25], requires_grad=True)
    scripted = jit.script(cubes)
    for program in (scripted, loaded(scripted)):
        found = program(x, 2)
        (grad,) = lamella.autograd.grad(found.sum(), x)
        a = x.detach().numpy()
        b = a**3 + 1
        assert found.tolist() == (b * b * b + 1).tolist()
        assert abs(grad.numpy() - 3 * b * b * 3 * a * a).max() < 1e-5
    traced = jit.trace(lambda x: cubes(x, 2), x)
    assert lamella.equal(traced(x), scripted(x, 2))
    assert str(traced.graph).count("program_cpp::cube") == 2
