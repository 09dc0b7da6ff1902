"""One tensor of a sample: dtype, sizes, layout in memory and values."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from typing import Any

SHORT = {
    "bool": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16",
    "u32": "uint32", "u64": "uint64", "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64",
    "c64": "complex64", "c128": "complex128",
}  # fmt: skip
OFFSET = 3
MATRICES = ("dominant", "invertible", "hermitian", "positive")  # kinds of matrices in the last two dimensions


@dataclass(frozen=True)
class Spec:
    """A tensor as data. ``seed`` decides its values; the line says everything else."""

    dtype: str
    shape: tuple[int, ...]
    order: tuple[int, ...] | None = None
    gap: int = 1
    offset: int = 0
    repeated: frozenset[int] = frozenset()
    values: tuple[Any, ...] = ("usual",)
    seed: int = 0

    # ---- the words after the sizes of a line ----

    def with_word(self, word: str, arguments: tuple[Any, ...] | None) -> Spec:
        """Returns the same tensor with ``.word`` or ``.word(arguments)`` applied."""
        n = len(self.shape)
        if arguments is None:
            if word == "t":
                swapped = (*range(n - 2), n - 1, n - 2)
                shape = tuple(self.shape[d] for d in swapped) if n > 1 else self.shape
                return replace(self, shape=shape, order=swapped) if n > 1 else replace(self, gap=2)
            if word == "last":
                return replace(self, order=(0, *range(2, n), 1))
            if word == "gaps":
                return replace(self, gap=2)
            if word == "offset":
                return replace(self, offset=OFFSET)
            if word in ("distinct", "nonzero", "special") or (word in MATRICES and n > 1):
                return replace(self, values=(word,))
        elif word == "order" and sorted(arguments) == list(range(n)):
            return replace(self, order=arguments)
        elif word == "expanded" and all(0 <= d < n for d in arguments):
            return replace(self, repeated=frozenset(arguments))
        elif word in ("within", "of", "below"):
            return replace(self, values=(word, *arguments))
        raise ValueError(f"'.{word}' with arguments {arguments} does not fit a tensor of {n} dimensions")

    # ---- memory ----

    @property
    def strides(self) -> tuple[int, ...]:
        """The strides, in elements."""
        strides, step = [0] * len(self.shape), self.gap
        for d in reversed(self.order or range(len(self.shape))):
            if d not in self.repeated:
                strides[d] = step
                step *= max(self.shape[d], 1) * self.gap
        return tuple(strides)

    @property
    def span(self) -> int:
        """The number of elements that the storage needs, up to the tensor's last element."""
        if 0 in self.shape:
            return self.offset
        return self.offset + 1 + sum((n - 1) * s for n, s in zip(self.shape, self.strides, strict=True))

    @property
    def contiguous(self) -> bool:
        step = 1
        for n, s in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if n != 1 and s != step:
                return 0 in self.shape
            step *= n
        return True

    # ---- values ----

    @property
    def kind(self) -> str:
        """The class of the dtype: bool, int, float or complex."""
        return self.dtype.rstrip("0123456789").removeprefix("u").removeprefix("b" if "bf" in self.dtype else "")

    def array(self):
        """Returns the elements as a numpy array; those of bfloat16 as float32 numbers that bfloat16 holds exactly."""
        import numpy as np

        held = tuple(1 if d in self.repeated else n for d, n in enumerate(self.shape))
        count = int(np.prod(held, dtype=np.int64))
        rng = np.random.default_rng(self.seed)
        made = matrices(self, held, rng) if self.values[0] in MATRICES else drawn(self, count, rng).reshape(held)
        return np.broadcast_to(rounded(made, self.dtype), self.shape)

    def flat(self):
        """Returns the storage as a numpy array of one dimension; NaN or the largest number fills the gaps."""
        import numpy as np

        array = self.array()
        filler = {"float": np.nan, "complex": np.nan, "bool": True}.get(self.kind)
        flat = np.full(self.span, np.iinfo(array.dtype).max if filler is None else filler, array.dtype)
        strides = tuple(s * flat.itemsize for s in self.strides)
        if array.size:
            np.lib.stride_tricks.as_strided(flat[self.offset :], self.shape, strides)[...] = array
        return flat


def seeded(text: str) -> int:
    return zlib.crc32(text.encode())


def drawn(spec: Spec, count: int, rng):
    """Returns ``count`` values in row-major order, in a wide dtype."""
    import numpy as np

    word, *given = spec.values
    if word == "of":
        return np.array([given[i % len(given)] for i in range(count)])
    if word == "below":
        return rng.integers(0, given[0], count) if given[0] > 0 else np.zeros(count, np.int64)
    if word == "distinct":
        order = rng.permutation(count)
        return order if spec.kind in ("int", "bool") else (order - count / 2) / 4
    if word == "special":
        return special(spec, count, rng)
    low, high = given if word == "within" else (0 if spec.dtype.startswith("u") else -5, 9)
    if spec.kind in ("int", "bool"):
        made = rng.integers(low, high, count, endpoint=True) if spec.kind == "int" else rng.integers(0, 2, count)
        return np.where(made == 0, 1, made) if word == "nonzero" else made
    if word == "usual" or word == "nonzero":
        low, high = -3, 3
    made = rng.uniform(low, high, count)
    if spec.kind == "complex":
        made = made + 1j * rng.uniform(low, high, count)
    return np.where(np.abs(made) < 0.25, 0.25 + np.abs(made), made) if word == "nonzero" else made


def matrices(spec: Spec, shape: tuple[int, ...], rng):
    """Returns matrices of small condition, whose eigenvalues and singular values lie apart."""
    import numpy as np

    *batch, m, n = shape
    made = drawn(replace(spec, values=("within", -1, 1)), int(np.prod(shape, dtype=np.int64)), rng).reshape(shape)
    word = spec.values[0]
    if word == "positive":
        return made @ np.conj(np.swapaxes(made, -1, -2)) / max(n, 1) + np.diag(1 + np.arange(n))
    if word == "hermitian":
        return (made + np.conj(np.swapaxes(made, -1, -2))) / 2 + np.diag(3 * np.arange(n) - n)
    made = made + np.eye(m, n) * (max(m, n) + 2 * np.arange(n))
    return made if word == "dominant" else np.roll(made, 1, axis=-2)


def special(spec: Spec, count: int, rng):
    """Returns values on which operators fail first, in turn, between usual values."""
    import numpy as np

    made = drawn(replace(spec, values=("usual",)), count, rng)
    if spec.kind == "bool":
        return made
    if spec.kind == "int":
        limits = np.iinfo(spec.dtype)
        odd = np.array([0, limits.max, limits.min, 1, limits.max // 2], spec.dtype)
        made = made.astype(spec.dtype)
    else:
        odd = np.array([0.0, np.inf, -0.0, np.nan, -np.inf, 1.0, -1.0, 0.5, 1e4, 1e-4, -1e4])
    made[::2] = odd[np.arange(len(made[::2])) % len(odd)]
    return made


def rounded(values, dtype: str):
    """Returns values in the dtype's numpy dtype, those of bfloat16 in float32, rounded to even."""
    import numpy as np

    if dtype != "bfloat16":
        with np.errstate(all="ignore"):
            return values.astype(dtype)
    bits = values.astype(np.float32).view(np.uint32)
    up = bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))
    nan = np.isnan(values.astype(np.float32))
    return np.where(nan, bits, up & np.uint32(0xFFFF0000)).astype(np.uint32).view(np.float32)


def tensor(spec: Spec, device: str | None = None) -> Any:
    """Makes a fresh tensor in the memory layout that a spec describes; on the host if no device is named."""
    import lamella

    dtype = getattr(lamella, spec.dtype)
    if device == "meta":
        flat = lamella.empty(spec.span, dtype=dtype, device="meta")
    else:
        flat = lamella.tensor(spec.flat()).to(dtype)
        flat = flat.to(device) if device else flat
    whole = spec.contiguous and not spec.offset
    return flat.view(spec.shape) if whole else flat.as_strided(spec.shape, spec.strides, spec.offset)
