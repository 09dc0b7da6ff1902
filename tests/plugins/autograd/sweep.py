"""The catalogue's samples as functions to differentiate: in f64 and c128, moved off the places without a derivative."""

from __future__ import annotations

from dataclasses import replace

import lattis
import numpy as np
from lattis.dispatcher import samples
from lattis.dispatcher.samples import Named, Sample, Spec

LIVE = {
    o["schema"].partition("(")[0].removeprefix("aten::"): o for o in lattis._C._operators() if o["owner"] == "lattis"
}
# In-place forms run on the samples of their functional ones. Random numbers depend on nothing.
SAMPLED = sorted(t for t, o in LIVE.items() if o["form"] != "out" and o["category"] != "random" and samples.of(t))


def written(operator: str) -> set[int]:
    """Places of the arguments that a call writes; batch_norm its running statistics."""
    if operator == "batch_norm":
        return {3, 4}
    return {i for i, a in enumerate(LIVE[operator]["args"]) if a["written"]}


WIDE = {"float16": "float64", "bfloat16": "float64", "float32": "float64", "float64": "float64"}
WIDE |= {"complex64": "complex128", "complex128": "complex128"}


def is_smooth(spec: Spec) -> bool:
    return spec.kind in ("float", "complex")


def widened(sample: Sample) -> Sample:
    """In double precision throughout, with usual numbers instead of infinities."""

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


def moved(t: lattis.Tensor, seed: int) -> lattis.Tensor:
    """Values a little smaller than given, and none alike: ties and kinks are left, domains are not."""
    rng = np.random.default_rng(seed)
    factor, more = (lattis.tensor(rng.uniform(0.2, 1, tuple(t.shape))) for _ in range(2))
    return t * (1 - 0.05 * factor) + 0.01 * more


class Case:
    """One call as a function of its floating and complex tensors."""

    def __init__(self, sample: Sample):
        self.sample = sample
        self.operator = sample.operator
        keep = written(self.operator) - {0}
        self.inplace = LIVE[self.operator]["name"].endswith("_")
        self.inputs: list[lattis.Tensor] = []
        self.args, self.kwargs = sample.map(lambda leaf: leaf)
        self.fixed: dict[int, lattis.Tensor] = {}
        place = 0
        self.variables = set()
        args, kwargs = [], {}
        for i, a in enumerate(sample.args):
            args.append(self.take(a, i not in keep))
        for k, a in sample.kwargs.items():
            kwargs[k] = self.take(a, True)
        self.args, self.kwargs = args, kwargs

    def take(self, leaf, variable):
        """A variable's number, wrapped; or the argument."""
        if isinstance(leaf, list | tuple) and not isinstance(leaf, Named):
            return type(leaf)(self.take(x, variable) for x in leaf)
        if isinstance(leaf, Named):
            return getattr(lattis, leaf.name)
        if not isinstance(leaf, Spec):
            return leaf
        t = samples.tensor(leaf)
        if not is_smooth(leaf):
            return t
        t = moved(t, leaf.seed)
        if not variable:
            return t
        self.inputs.append(t.requires_grad_())
        return Variable(len(self.inputs) - 1)

    def __call__(self, *inputs):
        def fill(a):
            if isinstance(a, list | tuple):
                return type(a)(fill(x) for x in a)
            if isinstance(a, Variable):
                return inputs[a.number]
            return a.clone() if isinstance(a, lattis.Tensor) else a

        args = [fill(a) for a in self.args]
        if self.inplace and isinstance(self.args[0], Variable):
            args[0] = args[0].clone()
        lattis.manual_seed(7)
        result = samples.call(self.operator)(*args, **{k: fill(a) for k, a in self.kwargs.items()})
        return tuple(r for r in flat(result) if isinstance(r, lattis.Tensor) and r.dtype in SMOOTH)


SMOOTH = (lattis.float16, lattis.bfloat16, lattis.float32, lattis.float64, lattis.complex64, lattis.complex128)


class Variable:
    def __init__(self, number):
        self.number = number


def flat(result) -> list:
    if isinstance(result, list | tuple):
        return [r for part in result if part is not None for r in flat(part)]
    return [result]


def cases(operator: str) -> list[Sample]:
    """Each call that differs in more than its dtypes' widths, if it has something to differentiate by."""
    found = {}
    for s in samples.of(operator):
        wide = widened(s)
        if any("special" in x.values for x in wide.specs()):
            continue  # infinities and the like, outside of domains
        if any(is_smooth(x) for x in wide.specs()):
            key = str([[replace(x, seed=0) if isinstance(x, Spec) else x for x in flat(list(wide.args))], str(wide.kwargs)])
            found.setdefault(key, wide)
    return list(found.values())
