"""functionalize over every operator: results and writes are those of the call, and arguments keep their values until
the end."""

import ctypes

import lamella
import pytest
from catalogue import BY_TITLE, FUNCTIONAL
from lamella import func
from lamella.operators import samples
from lamella.utils import _pytree as pytree

# The results are memory that nothing has written.
UNDETERMINED = {"empty_like", "empty_strided", "empty.memory_format"}
OPERATORS = [t for t in FUNCTIONAL if t not in UNDETERMINED and samples.of(t)]
REFUSALS = (
    "is opaque, so it has no memory of which to take a part",
    "functionalize keeps the memory of a tensor",
)  # set_
REFUSED = (RuntimeError, NotImplementedError, TypeError, ValueError, IndexError)


def in_place(operator):
    """Returns the title of an operator's in-place form; None if it has none."""
    name, dot, overload = operator.partition(".")
    found = f"{name}_{dot}{overload}"
    return found if found in BY_TITLE and BY_TITLE[found]["form"] == "inplace" else None


def call_of(title):
    name, _, overload = title.partition(".")
    return getattr(getattr(lamella.ops.aten, name), overload or "default")


class Stop(Exception):
    """Ends a function after its calls."""


def outcome(call, leaves, spec):
    """Returns the results of a call and the arguments after it, as lists of leaves; the error if there is one."""
    given = [own(leaf) for leaf in leaves]
    args, kwargs = pytree.tree_unflatten(given, spec)
    lamella.manual_seed(7)
    try:
        made = call(*args, **kwargs)
    except REFUSED as error:
        return None, error
    return [*pytree.tree_leaves(made), *given], None


def own(leaf):
    return leaf.detach().clone() if isinstance(leaf, lamella.Tensor) else leaf


def differs(found, right):
    """Returns how two lists of leaves differ; None if they do not."""
    if len(found) != len(right):
        return f"{len(found)} values, expected {len(right)}"
    for f, r in zip(found, right, strict=True):
        if not isinstance(r, lamella.Tensor):
            if f != r and f == f:
                return f"{f}, expected {r}"
        elif (f.shape, f.dtype, f.layout) != (r.shape, r.dtype, r.layout):
            return f"{f.dtype} {tuple(f.shape)}, expected {r.dtype} {tuple(r.shape)}"
        elif r.is_opaque:
            continue
        else:  # operators of which a composite is made may round otherwise than a kernel
            low = r.dtype in (lamella.float16, lamella.bfloat16)
            near = {"rtol": 2e-2, "atol": 2e-2} if low else {"rtol": 2e-4, "atol": 2e-5}
            if not lamella.allclose(f.to(lamella.complex128), r.to(lamella.complex128), equal_nan=True, **near):
                return f"{f}, expected {r}"
    return None


def fault(call, args, kwargs):
    """Returns how a functionalized call differs from the call; None if it does not."""
    leaves, spec = pytree.tree_flatten((args, kwargs))
    right, refused = outcome(call, leaves, spec)
    for remove in ("mutations", "mutations_and_views"):
        found, error = outcome(func.functionalize(call, remove=remove), leaves, spec)
        if refused is not None:
            if error is None:
                return f"no error, the call raises {refused}"
            continue
        if any(text in str(error) for text in REFUSALS):
            return None
        if error is not None:
            return f"{type(error).__name__}: {error}"
        if what := differs(found, right):
            return f"{remove}: {what}"
    if refused is None:
        given = [own(leaf) for leaf in leaves]

        def stopped(*args, **kwargs):
            call(*args, **kwargs)
            raise Stop

        args, kwargs = pytree.tree_unflatten(given, spec)
        with pytest.raises(Stop):
            func.functionalize(stopped)(*args, **kwargs)
        if what := differs(given, leaves):
            return f"an argument was written: {what}"
    return None


def faults(operator):
    for sample in samples.of(operator):
        args, kwargs = sample.build()
        yield sample, fault(samples.call(operator), args, kwargs)
        if form := in_place(operator):
            yield f"{sample} by {form}", fault(call_of(form), args, kwargs)


@pytest.mark.sweep
@pytest.mark.parametrize("operator", OPERATORS)
def test_samples(operator):
    found = [f"{sample}: {what}" for sample, what in faults(operator) if what]
    assert not found, "\n".join(found[:8])


def test_a_write_that_reaches_an_argument_is_reported():
    """The comparison reports a call that writes to the memory of an argument, which functionalize cannot see."""

    def hidden(x):
        ctypes.memset(func.debug_unwrap(x).data_ptr(), 0x3F, 4)  # the bytes of about 0.75
        return x * 1

    assert "expected" in fault(hidden, (lamella.zeros(2),), {})
