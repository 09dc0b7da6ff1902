"""Gradients of samples on device ``cuda`` against the CPU's, and the memory layout of results against the CPU's.

``python run_gradients.py [I/N] [operators...]`` takes the arguments of ``run_samples.py`` and prints the differences.
Each sample is differentiated in its own dtypes, and in double precision to second order.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

from run_samples import DEVICE, TESTS, main, share  # the folders of the helpers are on the path after this

sys.path.append(str(TESTS / "plugins/autograd"))

import lamella  # noqa: E402
import numpy as np  # noqa: E402
from catalogue import SAMPLED, array, described, run  # noqa: E402
from compare import differences  # noqa: E402
from gradient_sweep import DECLARED, Case, cases, excluded, flat, is_smooth  # noqa: E402
from gradient_sweep import SAMPLED as DIFFERENTIABLE  # noqa: E402
from lamella.operators import samples  # noqa: E402
from lamella.operators.samples import Sample  # noqa: E402

PARTS = 180  # parts of the catalogue with LAMELLA_SWEEP=turn, since g++ compiles each kernel of a gradient


class Placed(Case):
    """A sample as a function of its inputs, which have the sample's dtypes and lie on a device."""

    def __init__(self, sample: Sample, device: str):
        self.device = device
        super().__init__(sample)

    def take(self, leaf, constant: bool):
        if isinstance(leaf, samples.Spec):
            count = len(self.inputs)
            made = super().take(leaf, constant)
            dtype = getattr(lamella, leaf.dtype)
            if len(self.inputs) == count:
                return made.to(self.device, dtype)
            self.inputs[-1] = self.inputs[-1].detach().to(dtype).to(self.device).requires_grad_()
            return made
        return super().take(leaf, constant)


def weights(outs) -> list[lamella.Tensor]:
    """Returns gradients of the outputs: numbers of either sign, the same on each device."""
    rng = np.random.default_rng(3)
    return [lamella.tensor(rng.uniform(-1, 1, tuple(o.shape))).to(o.dtype).to(o.device) for o in outs]


def precision(case: Placed, dtype: str) -> str:
    """Returns the dtype of the precision to expect: a double's gradient may be computed in another input's dtype."""
    least = min(x.dtype.itemsize // (1 + x.dtype.is_complex) for x in case.inputs)
    complex_one = dtype.startswith("complex")
    if least >= 8 or dtype in ("float16", "bfloat16") or (least == 4 and dtype in ("float32", "complex64")):
        return dtype
    if least == 4 or complex_one:
        return "complex64" if complex_one else "float32"
    return next(str(x.dtype)[8:] for x in case.inputs if x.dtype.itemsize == 2)


def gradients(case: Placed, twice: bool) -> list:
    """Returns the inputs' gradients; if `twice`, also the gradients of their weighted sum. None for absent ones."""
    outs = [o for o in case(*case.inputs) if o.requires_grad]
    if not outs:
        return []
    first = lamella.autograd.grad(outs, case.inputs, weights(outs), create_graph=twice, allow_unused=True)
    again = [g for g in first if g is not None and g.requires_grad]
    second = lamella.autograd.grad(again, case.inputs, weights(again), allow_unused=True) if again else ()
    return [g if g is None else g.detach().cpu() for g in (*first, *second)]


def gradient_faults(sample: Sample, twice: bool = False) -> list[str]:
    on_cpu = Placed(sample, "cpu")
    if not on_cpu.inputs or on_cpu.values() is None:
        return []
    try:
        wanted = gradients(on_cpu, twice)
    except (RuntimeError, NotImplementedError) as error:  # a call without a derivative has none on any device
        try:
            gradients(Placed(sample, DEVICE), twice)
        except type(error):
            return []
        return [f"no error, where the cpu has {type(error).__name__}: {error}"]
    got = gradients(Placed(sample, DEVICE), twice)
    if [g is None for g in got] != [g is None for g in wanted]:
        return ["other inputs have gradients"]
    pairs = [(array(g), array(w)) for g, w in zip(got, wanted, strict=True) if g is not None]
    names = [f"{g[0]} instead of {w[0]}" for g, w in pairs if g[0] != w[0]]
    # Sums of many parts have rounding errors as large as the parts, so differences are divided by the largest element.
    sizes = [np.abs(w[np.isfinite(w)]).max(initial=1.0) for _, (_, w) in pairs]
    scaled = [(precision(on_cpu, g[0]), g[1] / s) for (g, _), s in zip(pairs, sizes, strict=True)]
    return names + differences(scaled, [w[1] / s for (_, w), s in zip(pairs, sizes, strict=True)], 1.0)


def second_faults(sample: Sample) -> list[str]:
    return gradient_faults(sample, twice=True)


def significant(shape: tuple[int, ...], strides: tuple[int, ...]) -> list[int]:
    """Returns the strides of dimensions that have more than one element."""
    return [] if 0 in shape else [s for n, s in zip(shape, strides, strict=True) if n > 1]


def layout_faults(sample: Sample) -> list[str]:
    """Compares the strides of results with the CPU's, in dimensions of more than one element."""
    kept = [[r for r in flat(run(sample, d)) if isinstance(r, lamella.Tensor)] for d in ("cpu", DEVICE)]
    wanted, got = ([significant(shape, strides) for shape, strides, _ in described(r)] for r in kept)
    return [] if got == wanted else [f"strides are {got}, the cpu's {wanted}"]


def checks(operator: str) -> Iterator[tuple[Callable[[Sample], list[str]], Sample]]:
    if operator in SAMPLED:
        yield from ((layout_faults, s) for s in samples.of(operator))
    if operator in DIFFERENTIABLE and operator not in DECLARED:
        for sample in samples.of(operator):
            if not excluded(sample) and any(is_smooth(s) for s in sample.specs()):
                yield gradient_faults, sample
        yield from ((second_faults, s) for s in cases(operator))


def faults(operator: str) -> list[str]:
    found = []
    for check, sample in checks(operator):
        try:
            wrong = check(sample)
        except Exception as error:
            wrong = [f"{type(error).__name__}: {error}"]
        found += [f"{sample}: {check.__name__}: {w}" for w in wrong]
    return found


if __name__ == "__main__":
    both = sorted({*SAMPLED, *DIFFERENTIABLE})
    sys.exit(main("run_gradients", share(sys.argv[1:], both, PARTS), faults))
