"""gradcheck and gradgradcheck report wrong derivatives and their places."""

import lamella
import pytest
from lamella.autograd import Function, gradcheck, gradgradcheck
from lamella.autograd.gradcheck import GradcheckError


def double(*shape, dtype=lamella.float64):
    lamella.manual_seed(1)
    numbers = lamella.randn(2, *shape, dtype=lamella.float64)
    return (
        (numbers[0] if dtype == lamella.float64 else lamella.complex(numbers[0], numbers[1])).clone().requires_grad_()
    )


def derived(forward, backward):
    """Makes a function whose backward gets the saved input and the gradient."""

    class Step(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return forward(x)

        @staticmethod
        def backward(ctx, grad):
            return backward(ctx.saved_tensors[0], grad)

    return Step.apply


RIGHT = derived(lambda x: x * x * x, lambda x, g: g * 3 * x * x)
WRONG = {
    "factor": derived(lambda x: x * x * x, lambda x, g: g * 2 * x * x),
    "sign": derived(lambda x: x * x * x, lambda x, g: g * -3 * x * x),
    "nothing": derived(lambda x: x * x * x, lambda x, g: None),
    "elsewhere": derived(lambda x: x * x * x, lambda x, g: g * 3 * x.flip(0) * x),
}


@pytest.mark.parametrize("fast_mode", [False, True])
def test_right(fast_mode):
    assert gradcheck(RIGHT, double(3), fast_mode=fast_mode)
    assert gradgradcheck(RIGHT, double(3), fast_mode=fast_mode)
    assert gradcheck(lamella.mm, (double(2, 3), double(3, 2)), fast_mode=fast_mode, check_batched_grad=True)
    assert gradgradcheck(lamella.mm, (double(2, 3), double(3, 2)), fast_mode=fast_mode)


@pytest.mark.parametrize("fast_mode", [False, True])
@pytest.mark.parametrize("wrong", WRONG.values(), ids=list(WRONG))
def test_wrong(wrong, fast_mode):
    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 0 with respect to input 0") as error:
        gradcheck(wrong, double(3), fast_mode=fast_mode)
    assert "numerical:tensor(" in str(error.value) and "analytical:tensor(" in str(error.value)
    assert gradcheck(wrong, double(3), fast_mode=fast_mode, raise_exception=False) is False


@pytest.mark.parametrize("fast_mode", [False, True])
def test_a_conjugate_that_is_missing(fast_mode):
    z = double(3, dtype=lamella.complex128)
    right = derived(lambda z: z * z, lambda z, g: g * 2 * z.conj())
    wrong = derived(lambda z: z * z, lambda z, g: g * 2 * z)
    assert gradcheck(right, z, fast_mode=fast_mode)
    assert gradgradcheck(right, z, fast_mode=fast_mode)
    with pytest.raises(GradcheckError, match="mismatch for output 0 with respect to input 0"):
        gradcheck(wrong, z, fast_mode=fast_mode)


@pytest.mark.parametrize("fast_mode", [False, True])
def test_a_wrong_second_order(fast_mode):
    cut = derived(lambda x: x * x * x, lambda x, g: g * (3 * x * x).detach())
    assert gradcheck(cut, double(3), fast_mode=fast_mode)
    with pytest.raises(GradcheckError, match="mismatch for output 0 with respect to input 0"):
        gradgradcheck(cut, double(3), fast_mode=fast_mode)


def test_which_output_and_input():
    wrong = WRONG["sign"]
    with pytest.raises(GradcheckError, match="output 1 with respect to input 2"):
        gradcheck(lambda x, n, y: (x * n, wrong(y)), (double(2), 3, double(2)))


def test_complex_between_real():
    z, x = double(2, dtype=lamella.complex128), double(2)
    assert gradcheck(lambda z, x: (z.abs(), z * x, lamella.polar(x, x)), (z, x))
    assert gradgradcheck(lambda z, x: (z.abs(), z * x), (z, x))


def test_what_does_not_depend():
    x = double(2)
    assert gradcheck(lambda x: (x * 2, lamella.ones(2, dtype=lamella.float64)), x)
    assert gradcheck(lambda x: (x * 2, x.detach() * 3), x)  # an output without a gradient, as statistics are
    with pytest.raises(GradcheckError, match="output 0"):
        gradcheck(lambda x: x.detach() * 3, x)


def test_backward_that_varies():
    runs = []

    def backward(x, g):
        runs.append(1)
        return g * (3 * x * x) + 1e-9 * len(runs)

    with pytest.raises(GradcheckError, match="not reentrant: .* output 0 .* input 0"):
        gradcheck(derived(lambda x: x * x * x, backward), double(2))
    assert gradcheck(derived(lambda x: x * x * x, backward), double(2), nondet_tol=1e-6)


def test_gradients_that_did_not_come():
    class Both(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, a, b):
            if a is None and bool((b == 0).all()):
                return lamella.ones(2, dtype=lamella.float64)
            return (0 if a is None else a * 2) + (0 if b is None else b * 3)

    with pytest.raises(GradcheckError, match="gradients that are not zero where the outputs' gradients are absent"):
        gradcheck(Both.apply, double(2))
    assert gradcheck(Both.apply, double(2), check_undefined_grad=False)


def test_bad_calls():
    with pytest.raises(ValueError, match="gradcheck: argument 'inputs' has no tensor that requires grad"):
        gradcheck(lamella.sin, lamella.ones(2))
    with pytest.warns(UserWarning, match="input 0 has dtype .*float32"):
        gradcheck(lamella.sin, lamella.ones(2, requires_grad=True), eps=1e-2, atol=1e-2)


def test_empty():
    assert gradcheck(lamella.sin, double(0, 3))
    assert gradgradcheck(lamella.sin, double(0, 3), gen_non_contig_grad_outputs=True)
    assert gradgradcheck(lamella.sin, double(3), lamella.ones(3, dtype=lamella.float64).requires_grad_())


def test_arguments_of_torch():
    x = lamella.tensor([0.5, 2.0], dtype=lamella.float64, requires_grad=True)
    off = {"check_forward_ad": False, "check_batched_forward_grad": False}
    assert lamella.autograd.gradcheck(lamella.sin, x, check_backward_ad=True, masked=False, **off)
    assert lamella.autograd.gradgradcheck(
        lamella.sin, x, check_fwd_over_rev=False, check_rev_over_rev=True, masked=False
    )
    with pytest.raises(ValueError, match="nothing is checked"):
        lamella.autograd.gradcheck(lamella.sin, x, check_backward_ad=False)
    with pytest.raises(ValueError, match="nothing is checked"):
        lamella.autograd.gradgradcheck(lamella.sin, x, check_rev_over_rev=False)
