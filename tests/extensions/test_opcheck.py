"""opcheck: correct operators pass; for each planted defect its own check fails, with a message that names it."""

import itertools

import lamella
import numpy as np
import pytest
from lamella import Tensor
from lamella.library import OpCheckError, custom_op, opcheck

count = itertools.count()
CHECKS = (
    "test_schema",
    "test_mutation",
    "test_autograd_registration",
    "test_gradients",
    "test_faketensor",
    "test_layers",
    "test_strides",
    "test_waiting",
    "test_dims",
)


def made(fn, *, mutates_args=(), schema=None, fake=None, backward=None, save=True, key=None):
    """Makes an operator in its own namespace, with the given fake kernel and derivative."""
    op = custom_op(f"checked{next(count)}::f", fn, mutates_args=mutates_args, schema=schema, device_types=key)
    if fake:
        op.register_fake(fake)
    if backward:
        op.register_autograd(
            backward, setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs) if save else None
        )
    return op


def x():
    return lamella.tensor([[0.5, -1.0, 2.0], [1.5, 3.0, -0.25]], requires_grad=True)


def cube(x: Tensor) -> Tensor:
    return lamella.from_numpy(x.numpy() ** 3)


def cube_backward(ctx, grad):
    (x,) = ctx.saved_tensors
    return 3 * x * x * grad


def cleared(op, args, kwargs=None, **how_close):
    try:
        return opcheck(op, args, kwargs, **how_close)
    finally:
        op.close()


@pytest.mark.needs("autograd")
def test_what_is_right_passes():
    op = made(cube, fake=lamella.empty_like, backward=cube_backward)
    assert cleared(op, (x(),)) == dict.fromkeys(CHECKS, "SUCCESS")


def test_several_results_lists_and_defaults_pass():
    def parts(xs: list[Tensor], by: float = 2.0, *, flag: bool = True) -> tuple[Tensor, list[Tensor]]:
        return xs[0] * by, [t + 1 for t in xs]

    def fake(xs, by=2.0, *, flag=True):
        return lamella.empty_like(xs[0]), [lamella.empty_like(t) for t in xs]

    op = made(parts, fake=fake)
    assert set(cleared(op, ([lamella.ones(2, 3), lamella.zeros(2)],), {"flag": False}).values()) == {"SUCCESS"}


def test_a_write_that_is_declared_passes():
    def fill(x: Tensor, value: float) -> None:
        x.fill_(value)

    assert set(
        cleared(made(fill, mutates_args=("x",), fake=lambda x, value: None), (lamella.ones(2, 3), 4.0)).values()
    ) == {"SUCCESS"}


def test_operators_of_the_catalogue_pass():
    a = x()
    for name, args in [("aten::mul.Tensor", (a, a.detach())), ("aten::t", (a,)), ("aten::relu_", (a.detach(),))]:
        assert set(opcheck(name, args).values()) == {"SUCCESS"}, name
    assert set(opcheck("aten::bernoulli", (lamella.full((3, 2), 0.5),)).values()) == {"SUCCESS"}


# ---- planted defects: (the check that fails, its message, the operator, its arguments) ------------------------------


def wrong_default():
    f = lambda x, by=3.0: x * by  # noqa: E731
    return made(f, schema="(Tensor x, float by=2.0) -> Tensor", fake=lambda x, by=2.0: lamella.empty_like(x))


def missing_parameter():
    return made(lambda x: x * 2, schema="(Tensor x, *, float by=2.0) -> Tensor", fake=lamella.empty_like)


def wrong_result():
    return made(lambda x: (x * 2, x), schema="(Tensor x) -> Tensor")


def undeclared_write():
    return made(lambda x: x.detach().add_(1).clone(), schema="(Tensor x) -> Tensor", fake=lamella.empty_like)


def results_share():
    def f(x):
        y = x + 1
        return y, y.view(-1)

    return made(f, schema="(Tensor x) -> (Tensor, Tensor)", fake=f)


def a_view_that_is_none():
    return made(lambda x: x.clone(), schema="(Tensor(a) x) -> Tensor(a)", fake=lambda x: x.clone())


def no_derivative():
    return made(cube, fake=lamella.empty_like)


def leaves_the_graph():
    return made(lambda x: lamella.from_numpy(x.detach().numpy() ** 3), schema="(Tensor x) -> Tensor", key="composite")


def wrong_formula():
    return made(cube, fake=lamella.empty_like, backward=lambda ctx, grad: 2 * ctx.saved_tensors[0] * grad)


def wrong_for_strided_gradients():
    def backward(ctx, grad):
        flat = lamella.as_strided(grad, grad.shape, (3, 1))
        return cube_backward(ctx, flat)

    return made(cube, fake=lamella.empty_like, backward=backward)


def no_fake():
    return made(cube, backward=cube_backward)


def fake_of_another_shape():
    return made(cube, fake=lambda x: x.new_empty((3, 2)), backward=cube_backward)


def fake_of_another_dtype():
    return made(cube, fake=lambda x: lamella.empty_like(x, dtype=lamella.float64), backward=cube_backward)


def fake_of_other_strides():
    return made(cube, fake=lambda x: lamella.empty_strided(x.shape, (1, 2), device="meta"), backward=cube_backward)


def hides_from_layers():
    op = made(cube, fake=lamella.empty_like)
    op._library.impl("f", lambda call, x: x.detach() ** 3, "autograd")
    return op


def reads_memory_without_strides():
    def f(x):
        return lamella.as_strided(x, x.shape, (3, 1)) * 2

    return made(f, schema="(Tensor x) -> Tensor", fake=lamella.empty_like)


def keeps_state():
    state = itertools.count()
    return made(lambda x: x * next(state), schema="(Tensor x) -> Tensor", fake=lamella.empty_like)


def writes(f, result="()", fake=None):
    return made(f, schema=f"(Tensor(a!) x) -> {result}", mutates_args=("x",), fake=fake or (lambda x: None))


def writes_by_memory_order():
    def f(x):
        x.add_(lamella.arange(6.0).as_strided(x.shape, (3, 1) if x.is_contiguous() else (1, 2)))

    return writes(f)


def writes_other_values_each_time():
    state = itertools.count()
    return writes(lambda x: (x.add_(next(state)), None)[1])


def writes_nothing_under_a_layer():
    def f(x):
        watched = any(name.startswith("opcheck") for _, name, _ in lamella._C._layers())
        x.mul_(1 if watched else 2)

    return writes(f)


def changes_a_little():
    def f(x):
        x.numpy()[...] = np.nextafter(x.numpy(), 9, dtype=np.float32)
        return lamella.zeros(2)

    return made(f, schema="(Tensor x) -> Tensor", fake=lambda x: x.new_empty(2))


def returns_a_part_by_numpy():
    f = lambda x: lamella.from_numpy(x.numpy()[1:])  # noqa: E731
    return made(f, schema="(Tensor x) -> Tensor", fake=lambda x: x.new_empty(1, 3))


def results_overlap_by_numpy():
    def f(x):
        y = x.numpy() * 2
        return lamella.from_numpy(y), lamella.from_numpy(y[1:])

    return made(f, schema="(Tensor x) -> (Tensor, Tensor)", fake=lambda x: (x + 1, x.new_empty(1, 3)))


def another_number_each_time():
    state = itertools.count()
    return made(lambda x: next(state), schema="(Tensor x) -> int", fake=lambda x: 0)


def a_number_that_depends_on_strides():
    return made(lambda x: x.stride(0), schema="(Tensor x) -> int", fake=lambda x: 3)


def fake_of_another_number():
    return made(lambda x: x.numel(), schema="(Tensor x) -> int", fake=lambda x: 5)


def fake_that_returns_its_argument():
    return made(lambda x: x.clone(), schema="(Tensor x) -> Tensor", fake=lambda x: x)


def fake_of_a_list_that_returns_a_view():
    fake = lambda x: [x.new_empty(2, 3), x.view(-1)]  # noqa: E731
    return made(lambda x: [x + 1, x.flatten() + 2], schema="(Tensor x) -> Tensor[]", fake=fake)


def a_list_of_another_length():
    state = itertools.count(1)
    return made(lambda x: [x + 1] * next(state), schema="(Tensor x) -> Tensor[]", fake=lambda x: [x + 1])


def a_kernel_for_no_device():
    op = made(lambda x: x + 1, fake=lamella.empty_like, schema="(Tensor x) -> Tensor")
    op.register_kernel("nodevice")(lambda x: x + 1)
    return op


GRADIENT = pytest.mark.needs("autograd")
PLANTED = [
    ("test_waiting", r"a kernel of checked\d+::f waits for the key 'nodevice'", a_kernel_for_no_device, False),
    ("test_schema", r"the default of 'by' is 3.0 here and 2.0 in the schema", wrong_default, False),
    ("test_schema", r"the signature \(x\).*unexpected keyword argument 'by'", missing_parameter, False),
    ("test_schema", r"must return Tensor, got tuple", wrong_result, False),
    ("test_mutation", r"writes to argument 'x'.*does not mark with \(a!\)", undeclared_write, False),
    ("test_mutation", r"result 1 shares the memory of result 0", results_share, False),
    ("test_mutation", r"memory of its own, but its schema .* says that it is a view", a_view_that_is_none, False),
    ("test_autograd_registration", r"it has no derivative", no_derivative, True),
    ("test_autograd_registration", r"'x' requires a gradient, and no result does", leaves_the_graph, True),
    ("test_gradients", r"its gradient is wrong.*mismatch", wrong_formula, True),
    (
        "test_gradients",
        r"another gradient when the one that comes in is not contiguous",
        wrong_for_strided_gradients,
        True,
    ),
    ("test_faketensor", r"device 'meta' has no kernel; register_fake", no_fake, False),
    ("test_faketensor", r"result 0 has shape \(2, 3\), and \(3, 2\) on device 'meta'", fake_of_another_shape, False),
    ("test_faketensor", r"result 0 has dtype lamella.float32, and lamella.float64", fake_of_another_dtype, False),
    ("test_faketensor", r"result 0 has strides \(3, 1\), and \(1, 2\)", fake_of_other_strides, False),
    ("test_layers", r"a layer of the band 'backend' does not see it", hides_from_layers, True),
    (
        "test_strides",
        r"differs when argument 'x' has the same values but is not contiguous",
        reads_memory_without_strides,
        False,
    ),
    ("test_strides", r"a second call gives another result 0; does the operator keep state", keeps_state, False),
    ("test_strides", r"gives another result 0", another_number_each_time, False),
    ("test_strides", r"gives another argument 'x'", writes_other_values_each_time, False),
    ("test_strides", r"gives another number of results", a_list_of_another_length, False),
    ("test_strides", r"argument 'x' differs when argument 'x' has", writes_by_memory_order, False),
    ("test_strides", r"result 0 differs when argument 'x' has", a_number_that_depends_on_strides, False),
    ("test_layers", r"argument 'x' differs under a layer of", writes_nothing_under_a_layer, False),
    ("test_mutation", r"writes to argument 'x', which", changes_a_little, False),
    ("test_mutation", r"result 0 shares the memory of argument 'x'", returns_a_part_by_numpy, False),
    ("test_mutation", r"result 1 shares the memory of result 0", results_overlap_by_numpy, False),
    ("test_faketensor", r"result 0 is 6, and 5 on device 'meta'", fake_of_another_number, False),
    (
        "test_faketensor",
        r"kernel returned memory of its argument 'x'.*on device 'meta'",
        fake_that_returns_its_argument,
        False,
    ),
    ("test_faketensor", r"result 0\[1\] has .* that of argument 'x'", fake_of_a_list_that_returns_a_view, False),
]


@pytest.mark.parametrize(
    "check, text, planted, gradient",
    [pytest.param(*p, id=p[2].__name__, marks=[GRADIENT] if p[3] else []) for p in PLANTED],
)
def test_a_planted_defect_is_found(check, text, planted, gradient):
    op = planted()
    try:
        argument = x() if gradient else x().detach()
        with pytest.raises(OpCheckError, match=f"(?s)opcheck: checked.*: {check}: .*{text}"):
            opcheck(op, (argument,), test_utils=check)
        found = opcheck(op, (argument,), raise_exception=False)
        assert found[check] != "SUCCESS" and found["test_schema"] == "SUCCESS" or check == "test_schema"
    finally:
        op.close()


def test_every_check_has_a_defect():
    # plugins/test_strangers_dims.py plants the texts that test_dims finds false.
    assert {p[0] for p in PLANTED} | {"test_dims"} == set(CHECKS) and len(PLANTED) >= 10


def test_the_kernel_of_numpy_may_return_what_it_likes_of_shapes():
    """An operator whose shapes depend on values has no fake kernel; opcheck then skips that check."""
    op = made(lambda x: lamella.from_numpy(np.unique(x.numpy())), schema="(Tensor x) -> Tensor")
    kept = [c for c in CHECKS if c != "test_faketensor"]
    try:
        assert set(opcheck(op, (lamella.tensor([1.0, 1.0, 2.0]),), test_utils=kept).values()) == {"SUCCESS"}
    finally:
        op.close()


def test_what_opcheck_does_not_take():
    with pytest.raises(ValueError, match="there is no check 'test_magic'"):
        opcheck("aten::relu", (x(),), test_utils="test_magic")
    with pytest.raises(TypeError, match="argument 'args'.*Tensor"):
        opcheck("aten::relu", x())
    with pytest.raises(RuntimeError, match="aten::nothing"):
        opcheck("aten::nothing", (x(),))


def test_a_sign_is_a_bit():
    def turns_a_sign(x):
        np.negative(x.numpy(), out=x.numpy())
        return x.clone()

    op = made(turns_a_sign, schema="(Tensor x) -> Tensor")
    for value in (0.0, float("nan")):
        with pytest.raises(OpCheckError, match="it writes to argument 'x'"):
            opcheck(op, (lamella.tensor([value]),), test_utils="test_mutation")
    op.close()


def test_random_numbers_go_on_where_they_were():
    lamella.manual_seed(7)
    wanted = [lamella.rand(2).tolist(), lamella.rand(2).tolist()]
    lamella.manual_seed(7)
    found = [lamella.rand(2).tolist()]
    opcheck("aten::relu", (lamella.ones(2),))
    assert lamella.initial_seed() == 7 and [*found, lamella.rand(2).tolist()] == wanted


# ---- operators that write, and return a new tensor -------------------------------------------------------------------


def counts(f, key):
    fake = lambda n, x: x.new_empty(x.shape)  # noqa: E731
    return made(f, schema="(Tensor(a!) n, Tensor x) -> Tensor", mutates_args=("n",), fake=fake, key=key)


@pytest.mark.needs("autograd")
def test_a_gradient_that_is_dropped_beside_a_write():
    """Such an operator cannot have a derivative: opcheck reports it, whether backward drops the gradient or fails."""
    op = counts(lambda n, x: (n.add_(1), x.detach() * 2)[1], "cpu")
    args = (lamella.zeros(1), x())
    try:
        found = opcheck(op, args, raise_exception=False)
        said = found["test_autograd_registration"]
        assert "no result does" in said or "no derivative" in said
        without = opcheck(op, (args[0], args[1].detach()))
        assert set(without.values()) == {"SUCCESS"} and args[0].item() == 0
    finally:
        op.close()


@pytest.mark.needs("autograd")
def test_a_write_beside_what_is_differentiated():
    """A composite's derivative is that of its parts; each call of a check gets a new copy of the written argument."""

    def right(n, x):
        n.add_(1)
        return x * x * n

    def wrong(n, x):
        n.add_(1)
        return x * x.detach() * n

    assert cleared(counts(right, "composite"), (lamella.zeros(1), x())) == dict.fromkeys(CHECKS, "SUCCESS")
    op = counts(wrong, "composite")
    with pytest.raises(OpCheckError, match="test_gradients: its gradient is wrong"):
        opcheck(op, (lamella.zeros(1), x()))
    op.close()


@pytest.mark.needs("autograd")
def test_what_writes_and_returns_that_passes():
    a = lamella.ones(2, 3)
    assert set(opcheck("aten::add_.Tensor", (a, x())).values()) == {"SUCCESS"}


# ---- tolerances ------------------------------------------------------------------------------------------------------


def test_how_close_numbers_must_be():
    state = itertools.count()
    op = made(lambda x: x + next(state) * 1e-3, schema="(Tensor x) -> Tensor", fake=lamella.empty_like)
    number = made(lambda x: next(state) * 1e-3, schema="(Tensor x) -> float", fake=lambda x: 0.0)
    args = (lamella.ones(2),)
    try:
        with pytest.raises(OpCheckError, match="test_strides: a second call gives another result 0"):
            opcheck(op, args, test_utils="test_strides")
        for close in ({"atol": 1}, {"rtol": 1}, {"atol": 1, "rtol": 0}):
            assert set(opcheck(op, args, **close).values()) == {"SUCCESS"}
        assert opcheck(number, args, atol=1)["test_faketensor"] == "SUCCESS"
        with pytest.raises(OpCheckError, match="test_strides: a second call gives another result 0"):
            opcheck(op, args, test_utils="test_strides", atol=1e-9, rtol=0)
        with pytest.raises(TypeError, match="opcheck: argument 'atol': expected a number, got str"):
            opcheck(op, args, atol="1")
    finally:
        op.close()
        number.close()


@pytest.mark.needs("autograd")
def test_how_close_a_gradient_must_be():
    op = made(cube, fake=lamella.empty_like, backward=lambda ctx, grad: cube_backward(ctx, grad) + 0.01)
    with pytest.raises(OpCheckError, match="its gradient is wrong"):
        opcheck(op, (x(),))
    assert cleared(op, (x(),), atol=0.1) == dict.fromkeys(CHECKS, "SUCCESS")


# ---- correct operators with no result to differentiate, or with none in float64 --------------------------------------


@pytest.mark.needs("autograd")
@pytest.mark.parametrize(
    "f, result, fake",
    [
        (lambda x: x.detach().argmax(), "Tensor", lambda x: x.new_empty((), dtype=lamella.int64)),
        (lambda x: x.detach().argmax(0), "Tensor", lambda x: x.new_empty(3, dtype=lamella.int64)),
        (lambda x: x.dim(), "int", lambda x: x.dim()),
        (lambda x: 0.5, "float", lambda x: 0.5),
        (lambda x: float("nan"), "float", lambda x: float("nan")),
        (lambda x: None, "()", lambda x: None),
        (lambda x: [], "Tensor[]", lambda x: []),
        (lambda x: (x.dim(), x.detach() > 0), "(int, Tensor)", lambda x: (2, x > 0)),
    ],
)
def test_results_without_a_gradient_pass(f, result, fake):
    op = made(f, schema=f"(Tensor x) -> {result}", fake=fake)
    assert cleared(op, (x(),)) == dict.fromkeys(CHECKS, "SUCCESS")


def test_nan_and_zero_pass():
    op = made(lambda x: x * 2, schema="(Tensor x) -> Tensor", fake=lamella.empty_like)
    for values in ([float("nan"), 0.0, -0.0, float("inf")], []):
        assert set(opcheck(op, (lamella.tensor(values),)).values()) == {"SUCCESS"}
    for dtype in (lamella.bfloat16, lamella.bool, lamella.int8, lamella.complex128):
        assert set(opcheck("aten::clone", (lamella.ones(2, 3, dtype=dtype),)).values()) == {"SUCCESS"}
    op.close()


@pytest.mark.needs("autograd")
def test_complex_gradients_are_compared_in_complex128():
    a = lamella.tensor([1 + 2j, -0.5 + 1j], dtype=lamella.complex64, requires_grad=True)
    op = made(lambda x: x * x, schema="(Tensor x) -> Tensor", fake=lamella.empty_like, backward=conjugated)
    assert cleared(op, (a,)) == dict.fromkeys(CHECKS, "SUCCESS")


def conjugated(ctx, grad):
    (x,) = ctx.saved_tensors
    return grad * (2 * x).conj()


@pytest.mark.needs("autograd")
def test_an_operator_that_computes_in_float32_passes():
    def f(x: Tensor) -> Tensor:
        return lamella.from_numpy(x.detach().numpy().astype(np.float32) ** 3)

    def fake(x):
        return x.new_empty(x.shape, dtype=lamella.float32)

    op = made(f, fake=fake, backward=lambda ctx, grad: cube_backward(ctx, grad).to(ctx.saved_tensors[0].dtype))
    assert cleared(op, (x(),)) == dict.fromkeys(CHECKS, "SUCCESS")
