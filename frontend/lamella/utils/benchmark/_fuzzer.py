"""Random sizes and tensors for measurements: Fuzzer draws parameters, and tensors whose sizes they give."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import lamella

ATTEMPTS = 1000  # draws for each set that is returned


class ParameterAlias:
    """Stands in a distribution for the value of another parameter.

    >>> lamella.utils.benchmark.ParameterAlias("n")
    ParameterAlias[alias_to: n]
    """

    def __init__(self, alias_to: str):
        self.alias_to = alias_to

    def __repr__(self) -> str:
        return f"ParameterAlias[alias_to: {self.alias_to}]"


class FuzzedParameter:
    """A parameter that is drawn at random.

    Args:
        name: its name
        minval, maxval: the bounds of "uniform" and "loguniform"; two ints give ints, and both are included
        distribution: "uniform", "loguniform", or a dict from values to their probabilities
        strict: a tensor's size that names this parameter must be exactly one; otherwise names of sizes that are no
            parameters are allowed to be numbers

    Raises:
        ValueError: bounds are missing or wrong, or the probabilities are not positive

    >>> lamella.utils.benchmark.FuzzedParameter("n", distribution={3: 1.0}).name
    'n'
    """

    def __init__(
        self,
        name: str,
        minval: float | None = None,
        maxval: float | None = None,
        distribution: str | dict[Any, float] | None = None,
        strict: bool = False,
    ):
        self._name, self._minval, self._maxval, self.strict = name, minval, maxval, strict
        self._distribution = distribution
        if isinstance(distribution, dict):
            if minval is not None or maxval is not None:
                raise ValueError(f"FuzzedParameter {name}: a dict of probabilities takes no bounds")
            if not distribution or min(distribution.values()) < 0 or sum(distribution.values()) <= 0:
                raise ValueError(f"FuzzedParameter {name}: the probabilities must not be negative, nor all be zero")
        elif distribution not in ("uniform", "loguniform"):
            raise ValueError(
                f"FuzzedParameter {name}: argument 'distribution' must be 'uniform', 'loguniform' or a dict, got "
                f"{distribution!r}"
            )
        elif minval is None or maxval is None or minval > maxval or (distribution == "loguniform" and minval <= 0):
            raise ValueError(f"FuzzedParameter {name}: bad bounds {minval}, {maxval} of distribution '{distribution}'")

    @property
    def name(self) -> str:
        """The parameter's name."""
        return self._name

    def sample(self, state: Any) -> Any:
        """Returns a value, by a numpy.random.RandomState."""
        if isinstance(self._distribution, dict):
            values, weights = list(self._distribution), list(self._distribution.values())
            total = sum(weights)
            return values[int(state.choice(len(values), p=[w / total for w in weights]))]
        low, high = self._minval, self._maxval
        assert low is not None and high is not None
        whole = isinstance(low, int) and isinstance(high, int)
        if self._distribution == "uniform":
            return int(state.randint(int(low), int(high) + 1)) if whole else float(state.uniform(low, high))
        drawn = math.exp(state.uniform(math.log(low), math.log(high + 1 if whole else high)))
        return min(int(drawn), int(high)) if whole else drawn


class FuzzedTensor:
    """A tensor whose sizes are parameters, and whose layout is drawn at random.

    Args:
        name: its name
        size: a size for each dimension: the name of a parameter, or a number
        steps: the steps of a slice through a larger tensor, in the same form
        probability_contiguous: how often the dimensions lie in memory in their order
        min_elements, max_elements, max_allocation_bytes: sets of parameters beyond them are drawn again
        dim_parameter: the name of a parameter with the number of sizes that are used
        roll_parameter: the name of a parameter by which the elements are rolled
        dtype: the dtype
        cuda: True makes it on the accelerator
        tensor_constructor: ``f(size=..., dtype=..., **parameters)`` in place of ``default_tensor_constructor``

    >>> lamella.utils.benchmark.FuzzedTensor("x", size=("n", 4)).name
    'x'
    """

    def __init__(
        self,
        name: str,
        size: tuple[str | int, ...],
        steps: tuple[str | int, ...] | None = None,
        probability_contiguous: float = 0.5,
        min_elements: int | None = None,
        max_elements: int | None = None,
        max_allocation_bytes: int | None = None,
        dim_parameter: str | None = None,
        roll_parameter: str | None = None,
        dtype: Any = lamella.float32,
        cuda: bool = False,
        tensor_constructor: Callable[..., Any] | None = None,
    ):
        self._name, self._size, self._steps = name, size, steps
        self._contiguous, self._min, self._max = probability_contiguous, min_elements, max_elements
        self._max_bytes, self._dim, self._roll = max_allocation_bytes, dim_parameter, roll_parameter
        self._dtype, self._cuda, self._make = dtype, cuda, tensor_constructor

    @property
    def name(self) -> str:
        """The tensor's name."""
        return self._name

    @staticmethod
    def default_tensor_constructor(size: Sequence[int], dtype: Any, **kwargs: Any) -> Any:
        """Returns random numbers from 0 to 1, or integers from 1 to 126."""
        if dtype.is_floating_point or dtype.is_complex:
            return lamella.rand(tuple(size), dtype=dtype)
        return lamella.randint(1, 127, tuple(size), dtype=dtype)

    def _sizes(self, params: Mapping[str, Any]) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """Returns the tensor's sizes, its steps, and the sizes of the memory that it is a slice of."""

        def resolved(values: Iterable[str | int], dim: int) -> tuple[int, ...]:
            found = tuple(params.get(v, v) if isinstance(v, str) else v for v in values)
            return (found + (1,) * dim)[:dim]

        dim = params[self._dim] if self._dim else len(self._size)
        size = resolved(self._size, dim)
        steps = resolved(self._steps or (), dim)
        return size, steps, tuple(n * step for n, step in zip(size, steps, strict=True))

    def satisfies_constraints(self, params: Mapping[str, Any]) -> bool:
        """Returns whether the tensor of these parameters is within its bounds."""
        size, _, allocated = self._sizes(params)
        elements, bytes_ = math.prod(size), math.prod(allocated) * self._dtype.itemsize
        if any(n is not None and elements < n for n in (self._min,)):
            return False
        return not (self._max is not None and elements > self._max) and not (
            self._max_bytes is not None and bytes_ > self._max_bytes
        )

    def _make_tensor(self, params: Mapping[str, Any], state: Any) -> tuple[Any, dict[str, Any]]:
        size, steps, allocated = self._sizes(params)
        constructor = self._make or self.default_tensor_constructor
        raw = constructor(size=allocated, dtype=self._dtype, **params)
        if self._cuda:
            raw = raw.to(lamella.accelerator.current_accelerator())
        dim = len(size)
        order = list(range(dim))
        if dim > 1 and state.rand() > self._contiguous:
            while dim > 1 and order == list(range(dim)):
                order = [int(i) for i in state.permutation(raw.dim())]
            back = [order.index(i) for i in range(dim)]
            raw = raw.permute(order).contiguous().permute(back)
        tensor = raw[tuple(slice(0, n * step, step) for n, step in zip(size, steps, strict=True))]
        if self._roll:
            tensor = tensor.roll(params[self._roll])
        properties = {
            "numel": int(tensor.numel()),
            "order": order,
            "steps": steps,
            "is_contiguous": tensor.is_contiguous(),
            "dtype": str(self._dtype),
        }
        return tensor, properties


class Fuzzer:
    """Draws sets of parameters, and tensors of them, that fulfil all constraints.

    Args:
        parameters, tensors: lists, whose members may be lists
        constraints: functions of the parameters by name; a set for which one is false is drawn again
        seed: makes the draws repeatable

    >>> from lamella.utils.benchmark import FuzzedParameter, FuzzedTensor, Fuzzer
    >>> fuzzer = Fuzzer([FuzzedParameter("n", 2, 2, "uniform")], [FuzzedTensor("x", ("n", 3))], seed=0)
    >>> [(tensors["x"].shape, params) for tensors, _, params in fuzzer.take(1)]
    [(lamella.Size([2, 3]), {'n': 2})]
    """

    def __init__(
        self,
        parameters: list[Any],
        tensors: list[Any],
        constraints: list[Callable[..., bool]] | None = None,
        seed: int | None = None,
    ):
        import numpy as np

        self._seed = int(np.random.RandomState().randint(0, 2**32 - 1, dtype=np.int64)) if seed is None else seed
        self._parameters: list[FuzzedParameter] = self._flat(parameters, FuzzedParameter)
        self._tensors: list[FuzzedTensor] = self._flat(tensors, FuzzedTensor)
        self._constraints = constraints or []
        names = [x.name for x in self._parameters] + [x.name for x in self._tensors]
        if repeated := sorted({n for n in names if names.count(n) > 1}):
            raise ValueError(f"Fuzzer: several parameters or tensors are named {repeated}")
        self._rejected = self._drawn = 0

    @staticmethod
    def _flat(values: list[Any], kind: type) -> list[Any]:
        flat = list(itertools.chain.from_iterable(v if isinstance(v, list | tuple) else [v] for v in values))
        for value in flat:
            if not isinstance(value, kind):
                raise ValueError(f"Fuzzer: expected instances of {kind.__name__}, got {type(value).__name__}")
        return flat

    def take(self, n: int) -> Iterator[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]:
        """Yields ``n`` sets: tensors by name, the tensors' properties by name, and parameters by name.

        Raises:
            ValueError: none of a thousand draws fulfils the constraints
        """
        import numpy as np

        state = np.random.RandomState(self._seed)
        for _ in range(n):
            params = self._draw(state)
            made = {t.name: t._make_tensor(params, state) for t in self._tensors}
            yield {k: t for k, (t, _) in made.items()}, {k: p for k, (_, p) in made.items()}, params

    @property
    def rejection_rate(self) -> float:
        """The part of the draws that did not fulfil the constraints."""
        return self._rejected / self._drawn if self._drawn else 0.0

    def _draw(self, state: Any) -> dict[str, Any]:
        for _ in range(ATTEMPTS):
            self._drawn += 1
            params = {p.name: p.sample(state) for p in self._parameters}
            for name, value in list(params.items()):
                while isinstance(value, ParameterAlias):
                    value = params[value.alias_to]
                params[name] = value
            fits = all(t.satisfies_constraints(params) for t in self._tensors)
            if fits and all(constraint(**params) for constraint in self._constraints):
                return params
            self._rejected += 1
        raise ValueError(f"Fuzzer: none of {ATTEMPTS} draws fulfils the constraints")
