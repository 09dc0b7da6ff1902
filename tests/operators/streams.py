"""Oracles of the random operators: Philox-4x32-10 (Salmon et al., 2011) in numpy, and random numbers from its words."""

from __future__ import annotations

import math

import numpy as np
from scipy import special, stats

SEED = 7


def words(count: int, seed: int = SEED) -> np.ndarray:
    """Returns the first words of a seed's stream, as uint64."""
    blocks = np.arange(-(-count // 4), dtype=np.uint64)
    low, high = np.uint64(0xFFFFFFFF), np.uint64(32)
    c = [blocks & low, blocks >> high, np.zeros_like(blocks), np.zeros_like(blocks)]
    k0, k1 = np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32)
    for _ in range(10):
        a, b = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [b >> high ^ c[1] ^ k0, b & low, a >> high ^ c[3] ^ k1, a & low]
        k0, k1 = k0 + np.uint64(0x9E3779B9) & low, k1 + np.uint64(0xBB67AE85) & low
    return np.stack(c, 1).reshape(-1)[:count]


def pairs(count: int) -> tuple[np.ndarray, np.ndarray]:
    return tuple(words(2 * count).reshape(-1, 2).T)


def units(count: int, dtype: str) -> np.ndarray:
    """Returns uniform numbers from [0, 1): of one word, or of two for float64."""
    if dtype == "float64":
        high, low = pairs(count)
        return ((high << np.uint64(32) | low) >> np.uint64(11)).astype(np.float64) / 2.0**53
    return (words(count) >> np.uint64(8)).astype(np.float64) / 2.0**24


def count_of(shape) -> int:
    return math.prod(shape)


PARTS = {"complex64": "float32", "complex128": "float64"}


def of_parts(f):
    """Extends a filling f(shape, dtype, ...) to complex numbers, both parts of which are drawn."""

    def fill(shape, dtype, *bounds):
        if dtype not in PARTS:
            return f(shape, dtype, *bounds)
        made = f((*shape, 2), PARTS[dtype], *bounds)
        return made[..., 0] + 1j * made[..., 1]

    return fill


@of_parts
def uniform(shape, dtype, low=0, high=1):
    made = low + (high - low) * units(count_of(shape), dtype).reshape(shape)
    if dtype in ("float16", "bfloat16"):  # rounding must not give the excluded end
        eps = {"float16": 2.0**-11, "bfloat16": 2.0**-8}[dtype]
        made = np.minimum(made, high - eps * 2.0 ** math.floor(math.log2(abs(high)) if high else 0))
    return made


def normal(shape, dtype, mean=0, std=1):
    count = count_of(shape)
    u = units(count + count % 2, dtype).reshape(-1, 2)
    radius, angle = np.sqrt(-2 * np.log1p(-u[:, 0])), 2 * np.pi * u[:, 1]
    z = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).reshape(-1)[:count]
    return mean + std * z.reshape(shape)


def shared(shape, dtype, mean=0, std=1):
    """Returns normal numbers; the two parts of a complex number share the variance."""
    return of_parts(normal)(shape, dtype, mean, std * math.sqrt(0.5) if dtype in PARTS else std)


def integers(shape, low, high):
    spread, count = high - low, count_of(shape)
    if spread <= 2**31:
        made = words(count) * np.uint64(spread) >> np.uint64(32)
    else:
        first, second = pairs(count)
        bits = 62 if spread < 2**63 else 64
        v = first << np.uint64(bits - 32) | second >> np.uint64(64 - bits)
        return np.array([low + (int(x) * spread >> bits) for x in v], np.int64).reshape(shape)
    return made.astype(np.int64).reshape(shape) + low


LARGEST = {"bool": 1, "float16": 2**11, "bfloat16": 2**8, "float32": 2**24, "float64": 2**53}


def to_the_top(shape, dtype):
    """random_ without a bound: draws up to the largest integer that the dtype holds exactly, within int64's range."""
    return integers(shape, 0, min((LARGEST.get(dtype) or int(np.iinfo(dtype).max)) + 1, 2**63 - 1))


def bernoulli(shape, p):
    """p is one number, taken as float32, or the probabilities of each element."""
    if isinstance(p, (int, float)):
        return units(count_of(shape), "float32").reshape(shape) < np.float32(p)
    return units(count_of(shape), "float64" if p.dtype == "float64" else "float32").reshape(shape) < p.array()


def permutation(n):
    high, low = pairs(n)
    return np.argsort(high << np.uint64(31) | low >> np.uint64(1), kind="stable")


def multinomial(p, count, replacement=False):
    rows = np.atleast_2d(p.array())
    if replacement:
        u = units(len(rows) * count, p.dtype).reshape(len(rows), count)
        cdf = np.cumsum(rows, 1)
        made = ((cdf / cdf[:, -1:])[:, None, :] <= u[:, :, None]).sum(2)
    else:
        u = units(rows.size, p.dtype).reshape(rows.shape)
        made = np.argsort(-(rows / -np.log1p(-u)), axis=1, kind="stable")[:, :count]
    return made if len(p.shape) == 2 else made[0]


def dropout(x, p, train):
    if not train or p == 0:
        return x.array()
    if p == 1:
        return np.zeros(x.shape)
    return np.where(bernoulli(x.shape, 1 - p), x.array().astype(np.float64) / (1 - p), 0)


def native_dropout(x, p, train=None):
    kept = np.ones(x.shape, bool) if train is False or p == 0 else bernoulli(x.shape, 1 - p)
    return [dropout(x, p, train is not False), kept]


def kept_channels(x, p):
    shape = (*x.shape[:2], *[1] * (len(x.shape) - 2))
    return np.broadcast_to(bernoulli(shape, 1 - p), x.shape)


def feature_dropout(x, p, train):
    if not train or p == 0 or 0 in x.shape:
        return x.array()
    return np.where(kept_channels(x, p), x.array().astype(np.float64) / (1 - p if p < 1 else np.inf), 0)


def alpha_dropout(x, p, train, channels=False):
    """Follows Klambauer et al. (2017): alpha' for a dropped element, then a x + b with mean 0 and variance 1."""
    if not train or p == 0 or 0 in x.shape:
        return x.array()
    if p == 1:
        return np.zeros(x.shape)
    fallen = -1.0507009873554805 * 1.6732632423543772
    kept = kept_channels(x, p) if channels else bernoulli(x.shape, 1 - p)
    a = ((1 - p) * (1 + p * fallen**2)) ** -0.5
    return a * np.where(kept, x.array().astype(np.float64), fallen) - a * p * fallen


def rrelu(x, lower=1 / 8, upper=1 / 3, training=False):
    array = x.array().astype(np.float64)
    u = units(count_of(x.shape), "float64" if x.dtype == "float64" else "float32").reshape(x.shape)
    slope = lower + (upper - lower) * u if training else (lower + upper) / 2
    return np.where(array > 0, array, array * slope)


# ---- draws by rejection, each element from a seed of its own: <lamella/pointwise/special/draws.h> ----


def inner(word) -> float:
    """Returns a number between 0 and 1 from the upper 31 bits of a word."""
    return (int(word) // 2 + 0.5) / 2.0**31


def blocks(seed: int):
    """Yields the blocks of a draw's stream, whose counter ends in 1."""
    for block in range(64):
        c, (k0, k1) = [block, 0, 0, 1], (seed & 0xFFFFFFFF, seed >> 32)
        for _ in range(10):
            a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
            c = [b >> 32 ^ c[1] ^ k0, b & 0xFFFFFFFF, a >> 32 ^ c[3] ^ k1, a & 0xFFFFFFFF]
            k0, k1 = k0 + 0x9E3779B9 & 0xFFFFFFFF, k1 + 0xBB67AE85 & 0xFFFFFFFF
        yield c


def log_gamma_draw(shape: float, seed: int) -> float:
    """Marsaglia and Tsang (2000)."""
    d = (shape + 1 if shape < 1 else shape) - 1 / 3
    for w in blocks(seed):
        x = math.sqrt(-2 * math.log(inner(w[0]))) * math.cos(2 * math.pi * inner(w[1]))
        v = (1 + x / math.sqrt(9 * d)) ** 3
        if v > 0 and math.log(inner(w[2])) < x * x / 2 + d * (1 - v + math.log(v)):
            return math.log(d * v) + (math.log(inner(w[3])) / shape if shape < 1 else 0)
    raise AssertionError("64 tries failed")


def by_search(u: float, shares) -> int:
    """Returns the least k at which the sum of the shares reaches u."""
    for k, share in enumerate(shares):
        if u <= share:
            return k
        u -= share
    raise AssertionError("the shares do not add up to 1")


def wide_unit(seed: int) -> float:
    high, low, *_ = next(blocks(seed))
    return ((high << 32 | low) >> 11) / 2.0**53


def transformed(seed: int, a: float, b: float, mean: float, edge: float, scale: float, log_share) -> int:
    """Hoermann's transformed rejection with squeeze (1993), for whole numbers."""
    for w in blocks(seed):
        for u, v in ((inner(w[0]) - 0.5, inner(w[1])), (inner(w[2]) - 0.5, inner(w[3]))):
            us = 0.5 - abs(u)
            k = math.floor((2 * a / us + b) * u + mean)
            if log_share(k) == -math.inf:
                continue
            if us >= 0.07 and v <= edge or math.log(v * scale / (a / us**2 + b)) <= log_share(k):
                return k
    raise AssertionError("64 tries failed")


def poisson_draw(rate: float, seed: int) -> int:
    if rate < 10:
        return by_search(wide_unit(seed), stats.poisson(rate).pmf(np.arange(200)))
    b = 0.931 + 2.53 * math.sqrt(rate)
    edge, scale = 0.9277 - 3.6224 / (b - 2), 1.1239 + 1.1328 / (b - 3.4)
    log_share = stats.poisson(rate).logpmf
    return transformed(seed, -0.059 + 0.02483 * b, b, rate + 0.43, edge, scale, log_share)


def binomial_draw(count: float, probability: float, seed: int) -> int:
    if probability > 0.5:
        return int(count) - binomial_draw(count, 1 - probability, seed)
    n, p = int(count), probability
    if n * p < 10:
        return by_search(wide_unit(seed), stats.binom(n, p).pmf(np.arange(n + 1)))
    spread = math.sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * spread
    most = stats.binom(n, p).logpmf(math.floor((n + 1) * p))
    return transformed(
        *(seed, -0.0873 + 0.0248 * b + 0.01 * p, b, n * p + 0.5, 0.92 - 4.2 / b, (2.83 + 5.1 / b) * spread),
        lambda k: stats.binom(n, p).logpmf(k) - most,
    )


def seeds(count: int) -> np.ndarray:
    high, low = pairs(count)
    return (high << np.uint64(32) | low) >> np.uint64(11)


def each(draw, *arrays):
    """Draws for each element of arrays that broadcast, by seeds of the stream."""
    arrays = np.broadcast_arrays(*(a.astype(np.float64) for a in arrays))
    drawn = [
        draw(*map(float, x), int(s)) for *x, s in zip(*(a.ravel() for a in arrays), seeds(arrays[0].size), strict=True)
    ]
    return np.array(drawn, np.float64).reshape(arrays[0].shape)


def given_seeds(draw):
    """Makes an oracle of a draw whose last argument has the seeds."""

    def oracle(s):
        arrays = np.broadcast_arrays(*(x.array().astype(np.float64) for x in s.args))
        drawn = [draw(*map(float, x), int(seed)) for *x, seed in zip(*(a.ravel() for a in arrays), strict=True)]
        return np.array(drawn, np.float64).reshape(arrays[0].shape)

    return oracle


def log_gammas(s):
    return each(log_gamma_draw, s.args[0].array())


def dirichlet(s):
    logs = log_gammas(s)
    return special.softmax(logs, -1) if logs.size else logs


# ---- over samples ----------------------------------------------------------------------------------------------------


def dtype_of(sample, default="float32") -> str:
    given = sample.kwargs.get("dtype")
    if given:
        return given.name
    return sample.args[0].dtype if sample.specs() else default


def drawn(f):
    """Makes an oracle that takes sizes, as rand((3, 4)), from f(shape, dtype, …)."""
    return lambda s: f(s.args[0], dtype_of(s))


def into(f):
    """Makes an oracle that takes a tensor, as uniform_(t, 0, 1) and rand_like(t), from f(shape, dtype, …)."""
    return lambda s: f(s.args[0].shape, dtype_of(s), *s.args[1:])


def normal_of(s):
    mean, std = s.args[0], s.args[1] if len(s.args) > 1 else 1
    arrays = [x if isinstance(x, (int, float)) else x.array() for x in (mean, std)]
    dtypes = {getattr(x, "dtype", "") for x in (mean, std)}
    dtype = next((d for d in ("complex128", "complex64", "float64") if d in dtypes), "float32")
    arrays = [x.astype(np.complex128 if dtype in PARTS else np.float64) if hasattr(x, "dtype") else x for x in arrays]
    return arrays[0] + arrays[1] * shared(np.broadcast_shapes(*(np.shape(a) for a in arrays)), dtype)


def from_units(formula, *defaults):
    """Makes a fill's oracle from a formula of one uniform number for each element, in float64 for a float64 tensor."""

    def fill(s):
        u = units(count_of(s.args[0].shape), "float64" if s.args[0].dtype == "float64" else "float32")
        return formula(u.astype(np.float64).reshape(s.args[0].shape), *(s.args[1:] or defaults))

    return fill


def log_normal(s):
    mean, std = s.args[1:] or (1, 2)
    dtype = "float64" if s.args[0].dtype == "float64" else "float32"
    return np.exp(mean + std * normal(s.args[0].shape, dtype))


ORACLES = {
    "exponential_": from_units(lambda u, rate: -np.log1p(-u) / rate, 1),
    "cauchy_": from_units(lambda u, median, width: median + width * np.tan(np.pi * (u - 0.5)), 0, 1),
    "geometric_": from_units(lambda u, p: np.maximum(np.ceil(np.log1p(-u) / np.log1p(-p)), 1)),
    "log_normal_": log_normal,
    "_standard_gamma": lambda s: np.exp(log_gammas(s)), "_standard_gamma_log": log_gammas,
    "_sample_dirichlet": dirichlet,
    "poisson": lambda s: each(poisson_draw, s.args[0].array()),
    "binomial": lambda s: each(binomial_draw, s.args[0].array(), s.args[1].array()),
    "_gamma_draw": given_seeds(log_gamma_draw), "_poisson_draw": given_seeds(poisson_draw),
    "_binomial_draw": given_seeds(binomial_draw),
    "rand": drawn(uniform), "randn": drawn(shared), "rand_like": into(uniform), "randn_like": into(shared),
    "uniform_": into(uniform), "normal_": into(shared),
    "randint": lambda s: integers(s.args[-1], 0, s.args[0]),
    "randint.low": lambda s: integers(s.args[-1], *s.args[:2]),
    "randint_like": lambda s: integers(s.args[0].shape, 0, s.args[1]),
    "randint_like.low_dtype": lambda s: integers(s.args[0].shape, *s.args[1:]),
    "randperm": lambda s: permutation(s.args[0]),
    "random_": lambda s: to_the_top(s.args[0].shape, s.args[0].dtype),
    "random_.to": lambda s: integers(s.args[0].shape, 0, s.args[1]),
    "random_.from": lambda s: integers(s.args[0].shape, *s.args[1:]),
    "bernoulli": lambda s: bernoulli(s.args[0].shape, s.args[0]),
    "bernoulli.p": lambda s: bernoulli(s.args[0].shape, s.args[1]),
    "bernoulli_.float": lambda s: bernoulli(s.args[0].shape, s.args[1] if len(s.args) > 1 else 0.5),
    "bernoulli_.Tensor": lambda s: bernoulli(s.args[0].shape, s.args[1]),
    "normal.Tensor_Tensor": normal_of, "normal.Tensor_float": normal_of, "normal.float_Tensor": normal_of,
    "normal.float_float": lambda s: normal(s.args[2], dtype_of(s), *s.args[:2]),
    "multinomial": lambda s: multinomial(*s.args), "dropout": lambda s: dropout(*s.args),
    "native_dropout": lambda s: native_dropout(*s.args), "rrelu": lambda s: rrelu(*s.args),
    "feature_dropout": lambda s: feature_dropout(*s.args), "alpha_dropout": lambda s: alpha_dropout(*s.args),
    "feature_alpha_dropout": lambda s: alpha_dropout(*s.args, channels=True),
}  # fmt: skip
