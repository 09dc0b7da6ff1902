"""The computations of gradcheck and gradgradcheck: Jacobians by finite differences and by backward.

All numbers are counted as real ones. A complex output counts as its real and imaginary parts, and a complex input is
moved along both axes. The gradient of a real number s with respect to x + iy is ds/dx + i ds/dy, half of which is the
Wirtinger derivative by the conjugate.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import lamella
import lamella.plugins.autograd.api as api
from lamella import Tensor

from . import _python
from .function import Function
from .gradcheck_error import GradcheckError

# ---- arguments and results -------------------------------------------------------------------------------------------


def _several(given: Any) -> tuple[Any, ...]:
    return tuple(given) if isinstance(given, tuple | list) else (given,)


def _differentiable(result: Any) -> tuple[Tensor, ...]:
    """Returns the results that require grad."""
    return tuple(o for o in _several(result) if isinstance(o, Tensor) and o.requires_grad)


def _parts(t: Tensor) -> Tensor:
    """Returns the elements as a flat tensor of real numbers. A complex element gives two: real and imaginary part."""
    t = t.detach()
    return (lamella.view_as_real(t) if t.is_complex() else t).reshape(-1)


def _from_parts(parts: Tensor, like: Tensor) -> Tensor:
    if like.is_complex():
        return lamella.view_as_complex(parts.reshape(*like.shape, 2))
    return parts.reshape(like.shape)


def _real_dtype(t: Tensor) -> Any:
    return {lamella.complex64: lamella.float32, lamella.complex128: lamella.float64}.get(t.dtype, t.dtype)


def _random(like: Tensor, draw: random.Random) -> Tensor:
    """Returns a tensor of random numbers of magnitude 0.5 to 1.5 and either sign."""
    n = like.numel() * (2 if like.is_complex() else 1)
    numbers = [draw.choice((-1, 1)) * draw.uniform(0.5, 1.5) for _ in range(n)]
    return _from_parts(lamella.tensor(numbers, dtype=_real_dtype(like), device=like.device), like)


class _Undefined(Function):
    """Passes its argument on, and returns no gradient for it."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()  # no view: the function may write to it in place

    @staticmethod
    def backward(ctx, grad):
        return None


# ---- checks ----------------------------------------------------------------------------------------------------------


class Check:
    """The checks of one function at given inputs."""

    def __init__(self, name, func, inputs, eps, atol, rtol):
        self.name, self.func, self.eps, self.atol, self.rtol = name, func, eps, atol, rtol
        self.inputs = _several(inputs)
        self.wanted = [i for i, x in enumerate(self.inputs) if isinstance(x, Tensor) and x.requires_grad]
        self.of = [self.inputs[i] for i in self.wanted]

    def wrong(self, text: str) -> GradcheckError:
        return GradcheckError(f"{self.name}: {text}")

    def inputs_fit(self) -> None:
        if not self.wanted:
            raise ValueError(f"{self.name}: argument 'inputs' has no tensor that requires grad")
        for i in self.wanted:
            if self.inputs[i].dtype not in (lamella.float64, lamella.complex128):
                warnings.warn(
                    f"{self.name}: input {i} has dtype {self.inputs[i].dtype}; differences need float64 or complex128",
                    stacklevel=4,
                )

    def results(self, inputs: Sequence[Any] | None = None) -> tuple[Tensor, ...]:
        """Returns the results of floating or complex dtype that require grad; all of such a dtype if none requires
        grad."""
        kept = self.floats(self.inputs if inputs is None else inputs)
        return tuple(o for o in kept if o.requires_grad) or tuple(kept)

    def floats(self, inputs: Sequence[Any]) -> list[Tensor]:
        with _python.enable_grad():
            found = _several(self.func(*inputs))
        return [o for o in found if isinstance(o, Tensor) and (o.is_floating_point() or o.is_complex())]

    # Jacobians by differences.

    def moved(self, i: int, parts: Tensor) -> list[Tensor]:
        """Returns the results, as real numbers, after input `i` is moved by ``parts``, given as real numbers too."""
        x = self.inputs[i]
        inputs = list(self.inputs)
        inputs[i] = (x.detach() + _from_parts(parts, x)).requires_grad_()
        return [_parts(o) for o in self.results(inputs)]

    def along(self, i: int, parts: Tensor) -> list[Tensor]:
        """Returns the derivatives of the results along ``parts``, a direction of input `i`."""
        ahead, behind = self.moved(i, parts * self.eps), self.moved(i, parts * -self.eps)
        return [(a - b) / (2 * self.eps) for a, b in zip(ahead, behind, strict=True)]

    def differences(self, i: int) -> list[Tensor]:
        """Returns for each result the Jacobian, in real numbers: one row for each real number of input `i`."""
        x = self.inputs[i]
        n = _parts(x).numel()
        rows = [self.along(i, unit) for unit in lamella.eye(n, dtype=_real_dtype(x), device=x.device)]
        if not rows:
            return [lamella.zeros(0, _parts(o).numel(), dtype=_real_dtype(o)) for o in self.results()]
        return [lamella.stack(column) for column in zip(*rows, strict=True)]

    # Jacobians by backward.

    def gradients(self, output: Tensor, grad: Tensor) -> tuple[Tensor | None, ...]:
        if not output.requires_grad:
            return (None,) * len(self.of)
        return api.grad((output,), self.of, (grad,), retain_graph=True, allow_unused=True)

    def rows(self, output: Tensor) -> Iterator[tuple[Tensor, ...]]:
        """Yields for each real number of the output the gradients of the inputs, in real numbers."""
        n = _parts(output).numel()
        for unit in lamella.eye(n, dtype=_real_dtype(output), device=output.device):
            found = self.gradients(output, _from_parts(unit, output))
            yield tuple(_parts(lamella.zeros_like(x) if g is None else g) for g, x in zip(found, self.of, strict=True))

    # Derivatives by forward mode.

    def tangents(self, i: int, direction: Tensor) -> list[Tensor]:
        """Returns the tangents of the results, where that of input `i` is ``direction``; zeros where there is none."""
        from lamella.autograd import forward_ad

        with forward_ad.dual_level():
            inputs = list(self.inputs)
            inputs[i] = forward_ad.make_dual(self.inputs[i].detach(), direction)
            made = self.floats(inputs)
            wanted = [o.requires_grad for o in self.floats(self.inputs)]  # those of `results`
            chosen = [o for o, want in zip(made, wanted, strict=True) if want] or made
            outputs = [forward_ad.unpack_dual(o) for o in chosen]
            return [lamella.zeros_like(o.primal) if o.tangent is None else o.tangent for o in outputs]

    def forward(self, fast: bool) -> None:
        """Compares derivatives by forward mode with differences: along each real number of an input, or if `fast` along
        one direction."""
        for i in self.wanted:
            x = self.inputs[i]
            parts = _parts(x)
            directions = lamella.eye(parts.numel(), dtype=_real_dtype(x), device=x.device)
            for unit in [_parts(_random(x, random.Random(0)))] if fast else directions:
                found = self.tangents(i, _from_parts(unit, x))
                for at, (tangent, numerical) in enumerate(zip(found, self.along(i, unit), strict=True)):
                    analytical = _parts(tangent).to(numerical.dtype)
                    if not self.close(analytical, numerical):
                        raise self.wrong(
                            f"the derivative of output {at} by forward mode, along the direction {unit} of input {i}, "
                            f"differs from the difference,\nnumerical:{numerical}\nanalytical:{analytical}"
                        )

    def batched_forward(self) -> None:
        """Checks that tangents of a batch of directions, under vmap, are those of each direction alone."""
        draw = random.Random(3)
        for i in self.wanted:
            directions = [_random(self.inputs[i], draw) for _ in range(2)]
            both = lamella.vmap(lambda d, i=i: tuple(self.tangents(i, d)))(lamella.stack(directions))
            for row, direction in enumerate(directions):
                for at, (alone, batch) in enumerate(zip(self.tangents(i, direction), both, strict=True)):
                    if not self.close(_parts(batch[row]), _parts(alone)):
                        raise self.wrong(
                            f"the batched tangent of output {at} along input {i} differs from the tangent of its row "
                            f"{row} alone:\n{batch[row]}\n{alone}"
                        )

    # The comparisons.

    def jacobians(self) -> None:
        """Compares each element of the Jacobians computed by differences with the element computed by backward."""
        outputs = self.results()
        analytical = [list(zip(*self.rows(o), strict=True)) for o in outputs]
        for k, i in enumerate(self.wanted):
            for at, numerical in enumerate(self.differences(i)):
                if numerical.numel() == 0:
                    continue
                by_backward = lamella.stack(analytical[at][k], 1).to(numerical.dtype)
                if not self.close(by_backward, numerical):
                    raise self.mismatch(at, i, numerical, by_backward, outputs[at])

    def mismatch(self, at: int, i: int, numerical: Tensor, analytical: Tensor, output: Tensor) -> GradcheckError:
        counted = output.is_complex() or self.inputs[i].is_complex()
        return self.wrong(
            f"Jacobian mismatch for output {at} with respect to input {i},\n"
            f"numerical:{numerical}\nanalytical:{analytical}\n"
            + ("(rows and columns are real and imaginary parts in turn where elements are complex)" if counted else "")
        )

    def close(self, a: Tensor, n: Tensor, atol: float | None = None) -> bool:
        return bool(((a - n).abs() <= (self.atol if atol is None else atol) + self.rtol * n.abs()).all())

    def products(self) -> None:
        """Compares one product u J v for each pair of output and input; where they differ, compares all elements."""
        outputs, draw = self.results(), random.Random(0)
        us = [_random(o, draw) for o in outputs]
        rows = [self.gradients(o, u) for o, u in zip(outputs, us, strict=True)]
        for k, i in enumerate(self.wanted):
            v = _parts(_random(self.inputs[i], draw))
            for at, moved in enumerate(self.along(i, v)):
                numerical = (moved * _parts(us[at]).to(moved.dtype)).sum()
                g = rows[at][k]
                analytical = lamella.zeros_like(numerical) if g is None else (_parts(g).to(v.dtype) * v).sum()
                many = (moved.numel() * v.numel()) ** 0.5
                if not self.close(analytical.to(numerical.dtype), numerical, self.atol * max(many, 1)):
                    self.jacobians()
                    raise self.wrong(
                        f"a product with the Jacobian of output {at} with respect to input {i} is {numerical.item()} "
                        f"by differences and {analytical.item()} by backward, though each element agrees; "
                        "try fast_mode=False"
                    )

    def repeats(self, nondet_tol: float) -> None:
        """Checks that two backwards give the same gradients."""
        draw = random.Random(1)
        for at, o in enumerate(self.results()):
            u = _random(o, draw)
            for i, a, b in zip(self.wanted, self.gradients(o, u), self.gradients(o, u), strict=True):
                if (a is None) != (b is None) or (
                    a is not None and not bool(((a - b).abs() <= nondet_tol).logical_or(a.isnan()).all())
                ):
                    raise self.wrong(
                        f"backward is not reentrant: two gradients of output {at} with respect to input {i} for the "
                        f"same gradient of the output differ by more than nondet_tol={nondet_tol}:\n{a}\n{b}"
                    )

    def dtypes(self) -> None:
        for at, o in enumerate(self.results()):
            for i, g in zip(self.wanted, self.gradients(o, lamella.ones_like(o)), strict=True):
                if g is not None and g.dtype != self.inputs[i].dtype:
                    raise self.wrong(
                        f"the gradient of output {at} with respect to input {i} has dtype {g.dtype}, but the input "
                        f"{self.inputs[i].dtype}"
                    )

    def undefined(self) -> None:
        """Checks that backward treats the absent gradient of an output as zero: first for all outputs, then for one at
        a time."""
        outputs = [o for o in self.results() if o.requires_grad]
        if not outputs:
            return
        for missing in [set(range(len(outputs))), *({k} for k in range(len(outputs)) if len(outputs) > 1)]:
            roots = [_Undefined.apply(o) if k in missing else o for k, o in enumerate(outputs)]
            zeros = [lamella.zeros_like(o) for o in outputs]
            try:
                found = api.grad(roots, self.of, zeros, retain_graph=True, allow_unused=True)
            except RuntimeError as error:
                raise self.wrong(
                    f"backward does not support outputs without a gradient: {error}; give them none, or pass "
                    "check_undefined_grad=False"
                ) from error
            if any(g is not None and bool((g != 0).any()) for g in found):
                raise self.wrong(
                    "backward gives gradients that are not zero where the outputs' gradients are absent or zeros; it "
                    "must take an absent gradient for zero"
                )

    def batched(self) -> None:
        draw = random.Random(2)
        for at, o in enumerate(self.results()):
            if not o.requires_grad:
                continue
            us = [_random(o, draw) for _ in range(2)]
            both = api.grad(
                (o,), self.of, (lamella.stack(us),), retain_graph=True, allow_unused=True, is_grads_batched=True
            )
            for row, u in enumerate(us):
                for i, a, b in zip(self.wanted, self.gradients(o, u), both, strict=True):
                    fits = a is b if a is None or b is None else self.close(_parts(b[row]), _parts(a))
                    if not fits:
                        raise self.wrong(
                            f"the batched gradient of output {at} with respect to input {i} differs from the gradient "
                            f"of its row {row} alone:\n{None if b is None else b[row]}\n{a}"
                        )


# ---- of second order -------------------------------------------------------------------------------------------------


def first_gradients(
    func: Callable[..., Any], inputs: Any, grad_outputs: Any, strided: bool
) -> tuple[Callable[..., tuple[Tensor, ...]], tuple[Any, ...]]:
    """Returns the function that computes the gradients of func, and its arguments: those of func, then gradients of its
    results."""
    given = _several(inputs)
    with _python.enable_grad():
        outputs = _differentiable(func(*given))
    if grad_outputs is None:
        draw = random.Random(0)
        vectors = tuple(_random(o, draw) for o in outputs)
        if strided:
            vectors = tuple(lamella.stack((v, v), -1)[..., 0] for v in vectors)
        vectors = tuple(v.requires_grad_() for v in vectors)
    else:
        vectors = _several(grad_outputs)
    n = len(given)

    needs = [isinstance(x, Tensor) and x.requires_grad for x in given]

    def gradients(*args):
        for x, need in zip(args, needs, strict=False):
            if need:
                x.requires_grad_()  # a dual does not, since its primal does
        xs = [x for x in args[:n] if isinstance(x, Tensor) and x.requires_grad]
        with _python.enable_grad():
            ys = _differentiable(func(*args[:n]))
            found = api.grad(ys, xs, args[n:], create_graph=True, allow_unused=True) if ys else ()
        return tuple(g for g in found if g is not None)

    return gradients, (*given, *vectors)
