"""Observers: modules that watch the tensors that go through them, and choose scales by what they have seen."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import lamella
from lamella import Tensor, nn

from .choosing import choose_scales, number_of, numbers, range_of
from .tensor import QSCHEMES, QScheme, type_name


class Making(partial):
    """A function that makes observers with some options; ``with_args`` adds further ones."""

    def with_args(self, **options: Any) -> Callable[[], Any]:
        """Returns a function with these options, too."""
        return Making(self, **options)


class Watcher(nn.Module):
    """The base of modules that a `QConfig` makes, whose buffers have the shapes of the data that they have seen."""

    @classmethod
    def with_args(cls, **options: Any) -> Callable[[], Any]:
        """Returns a function that makes such modules with these options, as `QConfig` takes it."""
        return Making(cls, **options)

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        for name, buffer in self._buffers.items():
            saved = state_dict.get(prefix + name)
            if isinstance(saved, Tensor) and saved.shape != buffer.shape:
                self._buffers[name] = lamella.zeros(saved.shape, dtype=buffer.dtype, device=buffer.device)
        super()._load_from_state_dict(state_dict, prefix, *rest)


class Observer(Watcher):
    """The base of observers: a call returns its argument and notes what its values are.

    Args:
        dtype: the numeric type that scales are chosen for
        qscheme: such as ``lamella.per_tensor_affine``; a symmetric one has no zero points
        reduce_range: use half of the codes, so that sums of products of bytes fit 16 bits; on processors without VNNI
            layers are faster so
        quant_min: the least code in use; by default the type's
        quant_max: the greatest code in use
    """

    def __init__(
        self,
        dtype: Any = lamella.uint8,
        qscheme: QScheme = QSCHEMES["per_tensor_affine"],
        reduce_range: bool = False,
        quant_min: int | None = None,
        quant_max: int | None = None,
    ):
        super().__init__()
        self.dtype, self.qscheme = type_name(dtype), qscheme
        least, most = range_of(self.dtype)
        low = least if quant_min is None else quant_min
        high = most if quant_max is None else quant_max
        if not least <= low < high <= most:
            raise ValueError(
                f"arguments 'quant_min' and 'quant_max': {low} and {high} are no range within {self.dtype}, from "
                f"{least} to {most}"
            )
        if reduce_range:
            low, high = (low // 2, high // 2) if low >= 0 else (-(-low // 2), high // 2)
        if low < 0 and self.symmetric and quant_min is None:
            low += 1  # as many codes on both sides
        self.quant_min, self.quant_max = low, high
        self.register_buffer("calls", lamella.zeros((), dtype=lamella.int64))

    @property
    def seen(self) -> int:
        """How many tensors the observer has seen."""
        return int(number_of(self.calls))

    @property
    def symmetric(self) -> bool:
        """Whether zero points are 0."""
        return self.qscheme.name.endswith("symmetric")

    def observe(self, x: Tensor) -> None:
        """Notes the values of a tensor, which has elements and no history."""
        raise NotImplementedError

    def bounds(self) -> tuple[Tensor, Tensor]:
        """Returns the least and the greatest values that codes are to reach."""
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        if x.numel():
            self.observe((x.dequantize() if x.is_quantized else x).detach().float())
            self.calls += 1
        return x

    def calculate_qparams(self) -> tuple[Tensor, Tensor]:
        """Returns scales, float32, and zero points, int32.

        Raises:
            RuntimeError: the observer has seen no tensor
            ValueError: what it has seen has NaN or infinities
        """
        if not self.seen:
            raise RuntimeError(
                f"{type(self).__name__}: has seen no tensor with elements; run the model on calibration data before "
                "it is converted"
            )
        return choose_scales(*self.bounds(), self.dtype, self.symmetric, self.quant_min, self.quant_max)

    def quantize(self, x: Tensor) -> Tensor:
        """Quantizes a tensor by the scales of `calculate_qparams`."""
        scales, zeros = self.calculate_qparams()
        options = {"quant_min": self.quant_min, "quant_max": self.quant_max}
        ops = lamella.ops.quantized
        if self.axis is None:
            return ops.quantize_per_tensor(x, *numbers(scales, zeros), self.dtype, **options)
        return ops.quantize_per_channel(x, scales, zeros, self.axis, self.dtype, **options)

    axis: int | None = None

    def extra_repr(self) -> str:
        return f"dtype={self.dtype}, qscheme={self.qscheme!r}, seen={self.seen}"


class MinMaxObserver(Observer):
    """Codes reach the least and the greatest value seen.

    >>> observer = lamella.quantization.MinMaxObserver(dtype=lamella.uint8)
    >>> _ = observer(lamella.tensor([-1.0, 0.0, 4.1]))
    >>> observer.calculate_qparams()
    (tensor(0.0200), tensor(50, dtype=lamella.int32))
    """

    def __init__(self, **options: Any):
        super().__init__(**options)
        self.register_buffer("min_val", lamella.tensor(float("inf")))
        self.register_buffer("max_val", lamella.tensor(float("-inf")))

    def spread(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the least and the greatest value of a tensor, or of each of its channels."""
        if self.axis is None:
            return x.amin(), x.amax()
        others = [d for d in range(x.ndim) if d != self.axis % x.ndim]
        return (x.amin(others), x.amax(others)) if others else (x, x)

    def joined(self, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the bounds of what was seen before and of a new tensor."""
        return lamella.minimum(self.min_val, low), lamella.maximum(self.max_val, high)

    def observe(self, x: Tensor) -> None:
        low, high = self.spread(x)
        if self.seen:
            low, high = self.joined(low, high)
        self.min_val, self.max_val = low, high

    def bounds(self) -> tuple[Tensor, Tensor]:
        return self.min_val, self.max_val


class MovingAverageMinMaxObserver(MinMaxObserver):
    """Codes reach moving averages of the least and the greatest values of the tensors seen.

    Args:
        averaging_constant: the part of a new tensor in the average
    """

    def __init__(self, averaging_constant: float = 0.01, **options: Any):
        super().__init__(**options)
        self.averaging_constant = averaging_constant

    def joined(self, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the bounds, moved towards those of a new tensor."""
        c = self.averaging_constant
        return self.min_val + c * (low - self.min_val), self.max_val + c * (high - self.max_val)


class PerChannelMinMaxObserver(MinMaxObserver):
    """As `MinMaxObserver`, for each index along a dimension, ``ch_axis``."""

    def __init__(self, ch_axis: int = 0, qscheme: QScheme = QSCHEMES["per_channel_affine"], **options: Any):
        super().__init__(qscheme=qscheme, **options)
        self.axis = ch_axis


class MovingAveragePerChannelMinMaxObserver(MovingAverageMinMaxObserver):
    """As `MovingAverageMinMaxObserver`, for each index along a dimension, ``ch_axis``."""

    def __init__(self, ch_axis: int = 0, qscheme: QScheme = QSCHEMES["per_channel_affine"], **options: Any):
        super().__init__(qscheme=qscheme, **options)
        self.axis = ch_axis


class HistogramObserver(MinMaxObserver):
    """Codes reach the range that makes the mean squared error of the values seen the least.

    The values are counted in ``bins`` of equal width. Ranges are tried that leave out bins at the ends, where few
    values lie; the error of a value is that of its bin's middle.

    Args:
        bins: how many
    """

    def __init__(self, bins: int = 2048, **options: Any):
        super().__init__(**options)
        self.bins = bins
        self.histogram: Tensor
        self.register_buffer("histogram", lamella.zeros(bins))

    def observe(self, x: Tensor) -> None:
        low, high = self.spread(x)
        if not (low.isfinite() and high.isfinite()):
            raise ValueError("HistogramObserver: the tensor has NaN or infinities")
        counts = self.histogram
        if self.seen:
            old = self.min_val, self.max_val
            low, high = self.joined(low, high)
            if (low, high) != old:
                counts = self.rebinned(counts, *old, low, high)
        self.min_val, self.max_val = low, high
        self.histogram = counts + self.counted(x, low, high)

    def counted(self, x: Tensor, low: Tensor, high: Tensor, weights: Tensor | None = None) -> Tensor:
        """Returns how many values, or the sum of whose weights, lie in each bin between two bounds."""
        width = ((high - low) / self.bins).clamp(min=1e-30)
        at = ((x.reshape(-1) - low) / width).long().clamp(0, self.bins - 1)
        return lamella.bincount(at, weights, minlength=self.bins).to(lamella.float32)

    def middles(self, low: Tensor, high: Tensor) -> Tensor:
        """Returns the middles of the bins between two bounds."""
        return low + (lamella.arange(self.bins, device=low.device) + 0.5) * ((high - low) / self.bins)

    def rebinned(self, counts: Tensor, low: Tensor, high: Tensor, new_low: Tensor, new_high: Tensor) -> Tensor:
        """Returns counts over wider bounds; a bin's values go to where its middle lies."""
        return self.counted(self.middles(low, high), new_low, new_high, counts)

    def error(self, first: int, last: int, middles: Tensor) -> float:
        """Returns the squared error of all values if codes reach the bins from ``first`` to ``last``."""
        low, high = middles[first], middles[last]
        scale, zero = choose_scales(low, high, self.dtype, self.symmetric, self.quant_min, self.quant_max)
        near = lamella.fake_quantize_per_tensor_affine(middles, *numbers(scale, zero), self.quant_min, self.quant_max)
        return number_of((self.histogram * (near - middles).square()).sum())

    def bounds(self) -> tuple[Tensor, Tensor]:
        low, high = self.min_val, self.max_val
        if not high > low:
            return low, high
        middles = self.middles(low, high)
        whole = self.histogram.sum()
        below = self.histogram.cumsum(0) / whole
        best, least = (low, high), self.error(0, self.bins - 1, middles)
        # The part of the values that a range leaves out at an end is at most an eighth, and halves in two steps.
        for step in range(40):
            part = 2.0 ** (-3 - step / 2)
            first = int(number_of((below < part).sum()))
            last = int(number_of((below < 1 - part).sum()))
            for a, b in ((first, last), (first, self.bins - 1), (0, last)):
                if a < b < self.bins and (error := self.error(a, b, middles)) < least:
                    best, least = (middles[a], middles[b]), error
        return best


class PercentileObserver(HistogramObserver):
    """Codes reach the values between two percentiles of those seen.

    Args:
        percentile: the upper one, in percent; the lower one leaves out as many values
    """

    def __init__(self, percentile: float = 99.99, **options: Any):
        super().__init__(**options)
        if not 50 < percentile <= 100:
            raise ValueError(f"argument 'percentile': expected more than 50, at most 100, got {percentile}")
        self.percentile = percentile

    def bounds(self) -> tuple[Tensor, Tensor]:
        low, high = self.min_val, self.max_val
        if not high > low:
            return low, high
        middles, below = self.middles(low, high), self.histogram.cumsum(0) / self.histogram.sum()
        part = 1 - self.percentile / 100
        first = min(int(number_of((below < part).sum())), self.bins - 1)
        last = min(int(number_of((below < 1 - part).sum())), self.bins - 1)
        return (low if first == 0 else middles[first]), (high if last == self.bins - 1 else middles[last])


class PlaceholderObserver(Observer):
    """Observes nothing: for activations that are quantized by their own range when a layer runs."""

    def observe(self, x: Tensor) -> None:
        pass

    def calculate_qparams(self) -> tuple[Tensor, Tensor]:
        raise RuntimeError("PlaceholderObserver: chooses no scales; the layer chooses them when it runs")


default_observer = MinMaxObserver.with_args(dtype=lamella.uint8, reduce_range=True)
default_weight_observer = MinMaxObserver.with_args(dtype=lamella.int8, qscheme=QSCHEMES["per_tensor_symmetric"])
default_per_channel_weight_observer = PerChannelMinMaxObserver.with_args(
    dtype=lamella.int8, qscheme=QSCHEMES["per_channel_symmetric"]
)
default_histogram_observer = HistogramObserver.with_args(dtype=lamella.uint8, reduce_range=True)
default_dynamic_quant_observer = PlaceholderObserver.with_args(dtype=lamella.uint8)
