"""Mixed precision as a layer above autograd: each operator with a policy gets its arguments in the dtype it asks for.

A policy is a rule of kind "tenants_autocast", for the catalogue's operators as for those of a third party.
"""

import functools

import lamella
from lamella.library import Library, on_rule

from . import over_call, tensors

NAME = "tenants_autocast"
POLICIES = {
    # computed in the low dtype
    "lower": (
        "linear mm bmm mv dot matmul addmm baddbmm einsum conv1d conv2d conv3d conv1d.padding conv2d.padding "
        "scaled_dot_product_attention lstm.input"
    ),
    # computed in float32 at least
    "keep": (
        "softmax.int log_softmax.int layer_norm group_norm cross_entropy nll_loss mse_loss kl_div exp log "
        "pow.Tensor_Scalar sum sum.dim_IntList mean mean.dim cumsum norm logsumexp"
    ),
    # computed in the widest dtype among the arguments
    "widest": "cat stack addcmul addcdiv index_put scatter_add dist",
}


def changes(value):
    """Returns whether a policy applies to a value: a tensor of floats of 32 bits or fewer."""
    return isinstance(value, lamella.Tensor) and value.dtype in (lamella.float32, lamella.float16, lamella.bfloat16)


def converted(tensor, dtype):
    """Returns the tensor in another dtype; an opaque one as it is if its layer has only this dtype."""
    try:
        return tensor.to(dtype)
    except NotImplementedError:
        if not tensor.is_opaque:
            raise
        return tensor


class Autocast:
    """The policies of operators, with one low dtype. ``with cast():`` applies them, ``with cast(False):`` does not.

    >>> from contextlib import closing
    >>> with closing(Autocast(lamella.bfloat16)) as cast, cast():
    ...     (lamella.ones(2, 2) @ lamella.ones(2, 2)).dtype
    lamella.bfloat16
    """

    def __init__(self, dtype):
        self.dtype = dtype
        self.library = Library(NAME, "FRAGMENT")
        # The handler goes on with operators that have no policy, so that the layer counts as passed: the operators of a
        # composite keep its dtypes, on devices that have a kernel in its place and on others. Derivatives have the
        # dtypes of what forward has saved.
        self.layer = self.library.register_layer(
            NAME,
            lambda call, *args, **kwargs: call(*args, **kwargs),
            at="autocast",
            never_on_tensors=True,
            not_in_backward=True,
        )
        for policy, operators in POLICIES.items():
            for op in operators.split():
                self.library.rule(f"aten::{op}", NAME, policy)
        self.subscription = on_rule(NAME, self._serve)

    def __call__(self, enabled=True):
        return self.layer.on() if enabled else self.layer.off()

    def close(self):
        self.subscription.remove()
        self.library.close()

    def _serve(self, rule):
        """Gives an operator the kernel of its policy; returns the function that withdraws it."""
        choose = {"lower": self._lower, "keep": self._keep, "widest": self._widest}.get(rule.payload)
        if choose is None:
            raise ValueError(f"autocast: the policy of {rule.op} is one of {', '.join(POLICIES)}, got {rule.payload!r}")
        handle = self.library.impl(rule.op, functools.partial(self._cast, choose), NAME)
        return lambda: self.library.withdraw(handle)

    def _cast(self, choose, call, *args, **kwargs):
        found = [t for t in tensors(args, tuple(kwargs.values())) if changes(t)]
        if not found:
            return call(*args, **kwargs)
        dtype = choose([t.dtype for t in found])
        args, kwargs = over_call(lambda v: converted(v, dtype) if changes(v) else v, args, kwargs)
        return call(*args, **kwargs)

    def _lower(self, dtypes):
        return self.dtype

    def _keep(self, dtypes):
        return lamella.float32

    def _widest(self, dtypes):
        return functools.reduce(lamella.promote_types, dtypes)
