"""gradcheck and gradgradcheck: compare derivatives with finite differences.

The checks are in differences.py, which is imported at the first call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lamella import Tensor

from .gradcheck_error import GradcheckError

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


def gradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Returns whether the gradients of func agree with finite differences, for each input that requires grad.

    Args:
        func: takes the inputs, returns one or several tensors
        inputs: arguments of func; those that require grad should be of dtype float64 or complex128
        eps: how far inputs are moved in both directions
        atol, rtol: two numbers a (by backward) and n (by differences) agree if abs(a - n) <= atol + rtol * abs(n)
        raise_exception: False returns False instead of raising
        nondet_tol: the largest difference that the gradients of two backwards may have
        check_undefined_grad: also checks that outputs without a gradient count as if theirs were zeros
        check_grad_dtypes: also checks that gradients have the dtype of their inputs
        check_batched_grad: also checks that gradients agree with those under is_grads_batched
        check_forward_ad: also compares derivatives by forward mode with the differences
        check_batched_forward_grad: also checks that tangents agree with those of a batch of directions under vmap
        check_backward_ad: False leaves out all that backward computes
        fast_mode: compares one product u J v of random vectors with each Jacobian J, rather than each element of J
        masked: is ignored: it is about sparse tensors

    Returns:
        True; or False if something disagrees and raise_exception is False

    Raises:
        GradcheckError: something disagrees; if it is a Jacobian, the message names the output and the input and
            shows both Jacobians
        ValueError: no input requires grad, or nothing is to be checked

    >>> x = lamella.tensor([0.5, 2.0], dtype=lamella.float64, requires_grad=True)
    >>> lamella.autograd.gradcheck(lamella.sin, x)
    True
    """
    from .differences import Check

    if not (check_backward_ad or check_forward_ad):
        raise ValueError("gradcheck: neither check_backward_ad nor check_forward_ad is True; nothing is checked")
    if check_batched_forward_grad and not check_forward_ad:
        raise ValueError("gradcheck: check_batched_forward_grad=True wants check_forward_ad=True")
    if check_batched_grad and not check_backward_ad:
        raise ValueError("gradcheck: check_batched_grad=True wants check_backward_ad=True")
    check = Check("gradcheck", func, inputs, eps, atol, rtol)
    try:
        check.inputs_fit()
        if check_forward_ad:
            check.forward(fast_mode)
        if check_batched_forward_grad:
            check.batched_forward()
        if check_backward_ad:
            (check.products if fast_mode else check.jacobians)()
            check.repeats(nondet_tol)
        if check_backward_ad and check_grad_dtypes:
            check.dtypes()
        if check_backward_ad and check_undefined_grad:
            check.undefined()
        if check_batched_grad:
            check.batched()
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    grad_outputs: Tensor | Sequence[Tensor] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Returns whether the gradients of the gradients of func agree with finite differences of its gradients.

    Args:
        grad_outputs: gradients of the outputs, which are further inputs of this check; random by default
        gen_non_contig_grad_outputs: the random grad_outputs are not contiguous
        check_fwd_over_rev: also computes the gradients' derivatives by forward mode
        check_rev_over_rev: False leaves out those by backward
        others: as for :func:`gradcheck`

    Raises:
        GradcheckError: something disagrees; outputs are the gradients, inputs those of func and then grad_outputs
        ValueError: no input requires grad, or nothing is to be checked

    >>> x = lamella.tensor([0.5, 2.0], dtype=lamella.float64, requires_grad=True)
    >>> lamella.autograd.gradgradcheck(lamella.sin, x)
    True
    """
    from .differences import first_gradients

    if not (check_rev_over_rev or check_fwd_over_rev):
        raise ValueError("gradgradcheck: neither check_rev_over_rev nor check_fwd_over_rev is True; nothing is checked")
    gradients, arguments = first_gradients(func, inputs, grad_outputs, gen_non_contig_grad_outputs)
    return gradcheck(
        gradients,
        arguments,
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
    )
