"""Turns the catalogue's samples into functions to differentiate, in f64 and c128, at points with a derivative."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import replace

import lamella
import numpy as np
from lamella.autograd import gradcheck, gradgradcheck
from lamella.operators import samples
from lamella.operators.samples import Named, Sample, Spec

LIVE = {
    o["schema"].partition("(")[0].removeprefix("aten::"): o for o in lamella._C._operators() if o["owner"] == "lamella"
}
# In-place forms use the samples of their functional forms. Results of random operators do not depend on arguments.
# Operators over lists call single ones, which have the derivatives.
WITHOUT = ("random", "lists")
SAMPLED = sorted(t for t, o in LIVE.items() if o["form"] != "out" and o["category"] not in WITHOUT and samples.of(t))

# Arguments that deliberately have no derivative: requesting it is an error, or gives None.
CONSTANT = {
    "cross_entropy": {"weight"},  # weights of the classes
    "nll_loss": {"weight"},
    "_resample": {"weight"},  # tables that are computed from sizes
    "_resample_backward": {"weight"},
    "batch_norm": {"running_mean", "running_var"},  # statistics that training writes
    "instance_norm": {"running_mean", "running_var"},
    "_standard_gamma_grad": {"self"},  # the second derivatives by the shapes have no closed form
    "_dirichlet_grad": {"alpha", "total"},
    "linalg_pinv.rcond_tensor": {"rcond"},
    "linalg_pinv.atol_rtol_tensor": {"atol", "rtol"},
    # Derivatives by orders and degrees have no closed form.
    **dict.fromkeys(("igamma", "igamma_", "igammac", "igammac_"), {"self"}),
    "special_zeta": {"self"},
    **{t: {"n"} for t in SAMPLED if re.fullmatch(r"special_.*_polynomial_\w+", t)},
    "_linalg_ldl_solve": {"LD"},
    "linalg_ldl_solve": {"LD"},
}
# Operators whose gradient deliberately differs from finite differences.
DECLARED = {
    "detach": "cuts the history: that is what it is for",
    "_int_linear": "takes float32 scales and biases alone; backends/cpu/test_int8_layers.py has their gradients",
    "_weight_linear": "takes float32 scales alone; backends/cpu/test_int8_layers.py has its gradients",
    "view.dtype": "reads the bytes as other numbers; between equal dtypes, too, as the layer does not look",
}
DECLARED |= {"detach_copy": DECLARED["detach"], "view_copy.dtype": DECLARED["view.dtype"]}
# Counts are constant between jumps. The edges follow the data, and have no derivative either, as in torch.
COUNTS = tuple(t for t in SAMPLED if t.startswith(("histogram.", "histogramdd")))
DECLARED |= dict.fromkeys(COUNTS, "counts elements")
# Draws from seeds are random numbers; operators that draw from a generator have the derivatives.
DRAWS = ("_gamma_draw", "_poisson_draw", "_binomial_draw")
DECLARED |= dict.fromkeys(DRAWS, "draws random numbers")
# Gradients of rounded numbers pass straight through; plugins/quantization/test_fake_quantize.py has them.
ROUNDED = tuple(t for t in SAMPLED if "quantize" in t)
DECLARED |= dict.fromkeys((*ROUNDED, "_scale_gradient"), "is rounded, and passes the gradient, or multiplies it")
# Operators that refuse a tensor that requires grad.
REFUSED = ("resize_", "resize_as_", "set_.source_Tensor", "set_.source_Tensor_storage_offset")
DECLARED |= dict.fromkeys(REFUSED, "gives the tensor other elements")

# Factors that have no derivative: backward raises NotImplementedError.
UNKNOWN = ("_linalg_ldl", "geqrf", "linalg_ldl_factor", "linalg_ldl_factor_ex", "nextafter", "nextafter_")
# Functions that have none in closed form.
UNKNOWN += ("special_airy_ai", "special_zeta.other_scalar")
UNKNOWN += tuple(t for t in SAMPLED if re.fullmatch(r"special_.*_polynomial_\w+\.x_scalar", t))
DECLARED |= dict.fromkeys(UNKNOWN, "has no derivative")

WIDE = {"float16": "float64", "bfloat16": "float64", "float32": "float64", "float64": "float64"}
WIDE |= {"complex64": "complex128", "complex128": "complex128"}
SMOOTH = (lamella.float16, lamella.bfloat16, lamella.float32, lamella.float64, lamella.complex64, lamella.complex128)


def excluded(sample: Sample) -> bool:
    """Returns whether a sample is useless for testing derivatives."""
    if sample.tag == "free" or sample.operator == "empty_like":
        return True  # the values are undefined
    if any("special" in s.values for s in sample.specs()):
        return True  # infinities, and values outside of the operators' domains
    name = sample.operator.partition(".")[0]
    if name in ("linalg_pinv", "_linalg_cholesky") and "of" in sample.specs()[0].values:
        return True  # deficient matrices; see test_linalg_derivatives
    if sample.operator == "embedding" and (sample.args[2:] or sample.kwargs):
        return True  # the padding row gets no gradient; see test_subgradients
    # The gradient of a mean over no elements is a division by zero.
    return sample.operator == "_pair_loss_backward" and any(0 in s.shape for s in sample.specs())


def is_smooth(spec: Spec) -> bool:
    return spec.kind in ("float", "complex")


def flat(result) -> list:
    if isinstance(result, list | tuple) and not isinstance(result, Named):
        return [r for part in result if part is not None for r in flat(part)]
    return [result]


def widened(sample: Sample) -> Sample:
    """Returns the sample in double precision, with moderate numbers instead of huge ones."""

    def wide(leaf):
        if isinstance(leaf, Spec) and is_smooth(leaf):
            word, *given = leaf.values
            usual = [v if abs(v) < 100 else 0.7 for v in given]
            return replace(leaf, dtype=WIDE[leaf.dtype], values=(word, *usual), repeated=frozenset())
        if isinstance(leaf, Named):
            return Named(WIDE.get(leaf.name, leaf.name))
        return leaf

    args, kwargs = sample.map(wide)
    return replace(sample, args=tuple(args), kwargs=kwargs)


def leaves_out(sample: Sample) -> bool:
    """Returns whether the window of as_strided lacks elements of the tensor. as_strided_ refuses it, if the tensor
    requires grad."""
    x, size, stride = sample.args[:3]
    places = {sum(i * s for i, s in zip(at, stride, strict=True)) for at in itertools.product(*map(range, size))}
    return len(places) != math.prod(x.shape)


def cases(operator: str) -> list[Sample]:
    """Returns samples with a floating or complex tensor, one of each set that differs only in precision."""
    found = {}
    for s in samples.of(operator):
        wide = widened(s)
        if operator == "as_strided_" and leaves_out(s):
            continue
        if not excluded(s) and any(is_smooth(x) for x in wide.specs()):
            plain = [
                replace(x, seed=0) if isinstance(x, Spec) else x for x in flat([list(wide.args), *wide.kwargs.values()])
            ]
            found.setdefault(str([plain, list(wide.kwargs), len(wide.args)]), wide)
    return list(found.values())


def moved(t: lamella.Tensor, seed: int) -> lamella.Tensor:
    """Returns distinct values, slightly smaller than given: away from ties and kinks, but still in the domains."""
    rng = np.random.default_rng(seed)
    factor, more = (lamella.tensor(rng.uniform(0.2, 1, tuple(t.shape))) for _ in range(2))
    return t * (1 - 0.05 * factor) + 0.01 * more


class Variable:
    """Marks the place of an input of the function among the arguments."""

    def __init__(self, number: int, hermitian: bool):
        self.number = number
        self.hermitian = hermitian

    def among(self, inputs: tuple[lamella.Tensor, ...]) -> lamella.Tensor:
        x = inputs[self.number]
        return (x + x.mH) / 2 if self.hermitian else x


def in_one_phase(x: lamella.Tensor) -> lamella.Tensor:
    """Returns the squares of the elements' sizes, which do not depend on the phases of vectors."""
    return lamella.view_as_real(x).square().sum(-1) if x.is_complex() else x.square()


def determined(operator: str, args: list, results: list) -> list:
    """Returns the parts of a decomposition's results that its argument determines."""
    name = operator.partition(".")[0].removeprefix("_").removeprefix("linalg_")
    if name in ("eigh", "eig") and results[1].numel():
        return [results[0], in_one_phase(results[1])]
    if name == "svd" and results[0].numel():
        u, s, v = results[:3]
        k = s.shape[-1]
        return [in_one_phase(u[..., :k]), s, in_one_phase(v[..., :k] if operator == "svd" else v[..., :k, :])]
    if operator == "_linalg_lstsq":
        return [results[0][..., : args[0].shape[-1], :], *results[1:]]
    return results


class Case:
    """A call as a function of its floating and complex tensors, ``inputs``."""

    def __init__(self, sample: Sample):
        self.operator = sample.operator
        self.inputs: list[lamella.Tensor] = []
        names = [a["name"] for a in LIVE[self.operator]["args"]]
        constant = CONSTANT.get(self.operator, set())
        self.args = [self.take(a, n in constant) for a, n in zip(sample.args, names, strict=False)]
        self.kwargs = {n: self.take(a, n in constant) for n, a in sample.kwargs.items()}
        self.in_place = LIVE[self.operator]["name"].endswith("_")

    def take(self, leaf, constant: bool):
        if isinstance(leaf, list | tuple) and not isinstance(leaf, Named):
            return type(leaf)(self.take(x, constant) for x in leaf)
        if isinstance(leaf, Named):
            return getattr(lamella, leaf.name)
        if not isinstance(leaf, Spec):
            return leaf
        t = samples.tensor(leaf)
        if not is_smooth(leaf):
            return t
        t = moved(t, leaf.seed)
        if constant:
            return t
        self.inputs.append(t.requires_grad_())
        return Variable(len(self.inputs) - 1, leaf.values[0] in ("hermitian", "positive"))

    def __call__(self, *inputs: lamella.Tensor) -> tuple[lamella.Tensor, ...]:
        def fill(a):
            if isinstance(a, list | tuple):
                return type(a)(fill(x) for x in a)
            if isinstance(a, Variable):
                return a.among(inputs)
            return a.clone() if isinstance(a, lamella.Tensor) else a

        args = [fill(a) for a in self.args]
        if self.in_place and args and isinstance(args[0], lamella.Tensor):
            args[0] = args[0].clone()
        lamella.manual_seed(7)
        result = flat(samples.call(self.operator)(*args, **{n: fill(a) for n, a in self.kwargs.items()}))
        return tuple(
            r for r in determined(self.operator, args, result) if isinstance(r, lamella.Tensor) and r.dtype in SMOOTH
        )

    def values(self) -> tuple[lamella.Tensor, ...] | None:
        """Returns the results; None if they are not finite, or do not fit into an in-place form's argument."""
        try:
            with lamella.no_grad():
                found = self(*self.inputs)
        except (RuntimeError, TypeError):
            if self.in_place:
                return None
            raise
        return found if found and all(bool(lamella.isfinite(r).all()) for r in found) else None


def faults(sample: Sample) -> list[str] | None:
    """Returns the faults of the first and second derivatives as text; None if there is nothing to compare."""
    case = Case(sample)
    if not case.inputs or case.values() is None:
        return None
    try:
        gradcheck(case, case.inputs, atol=1e-6, rtol=1e-5, fast_mode=True)
        gradgradcheck(case, case.inputs, atol=1e-6, rtol=1e-5, fast_mode=True)
    except Exception as error:
        return [f"{sample}: {type(error).__name__}: {error}"]
    return []
