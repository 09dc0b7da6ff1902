"""GradcheckError, which gradcheck and gradgradcheck raise."""


class GradcheckError(RuntimeError):
    """Raised by gradcheck and gradgradcheck for a wrong gradient.

    >>> x = lamella.tensor(1.0, dtype=lamella.float64, requires_grad=True)
    >>> lamella.autograd.gradcheck(lambda x: x.detach() * x, x)
    Traceback (most recent call last):
    GradcheckError: gradcheck: Jacobian mismatch for output 0 with respect to input 0,
    ...
    """
