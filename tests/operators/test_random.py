"""Random numbers: Philox's published vectors, streams, seeds and threads, and their distributions."""

from contextlib import nullcontext

import lamella
import numpy as np
import pytest
import scipy.stats
from arrays import FLOATS, bits, lt_dtype, to_lamella, to_numpy

# Random123, "kat_vectors": counter, key, result of philox4x32 with ten rounds.
PUBLISHED = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
]


def philox(counter, key):
    """Computes Philox-4x32-10 by the paper's definition, in plain Python."""
    c, (k0, k1) = list(counter), key
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [b >> 32 ^ c[1] ^ k0, b & 0xFFFFFFFF, a >> 32 ^ c[3] ^ k1, a & 0xFFFFFFFF]
        k0, k1 = k0 + 0x9E3779B9 & 0xFFFFFFFF, k1 + 0xBB67AE85 & 0xFFFFFFFF
    return c


def words(text):
    return [int(w, 16) for w in text.split()]


def stream(seed, first, blocks):
    """Returns the words of consecutive counters, with a seed as the key."""
    key = seed & 0xFFFFFFFF, seed >> 32
    return [w for n in range(first, first + blocks) for w in philox([n & 0xFFFFFFFF, n >> 32, 0, 0], key)]


def seeded(seed):
    return lamella.Generator().manual_seed(seed)


@pytest.mark.parametrize("counter, key, result", PUBLISHED)
def test_the_oracle_gives_the_published_vectors(counter, key, result):
    assert philox(words(counter), words(key)) == words(result)


def test_the_first_published_vector_is_the_stream_of_seed_zero():
    published = [w >> 8 for w in words(PUBLISHED[0][2])]
    assert (lamella.rand(4, generator=seeded(0)) * 2**24).tolist() == published


@pytest.mark.parametrize("seed", [0, 1, 12345, 2**32 + 7, 2**64 - 1])
def test_uniform_float32_is_philox(seed):
    want = np.array([w >> 8 for w in stream(seed, 0, 300)], np.float32) / np.float32(2**24)
    np.testing.assert_array_equal(to_numpy(lamella.rand(1200, generator=seeded(seed))), want)


@pytest.mark.parametrize("seed", [0, 99])
def test_uniform_float64_takes_two_words(seed):
    high, low = np.array(stream(seed, 0, 100), np.uint64).reshape(-1, 2).T
    want = ((high << np.uint64(32) | low) >> np.uint64(11)).astype(np.float64) / 2.0**53
    np.testing.assert_array_equal(to_numpy(lamella.rand(200, generator=seeded(seed), dtype=lamella.float64)), want)


def test_a_large_offset():
    g = lamella.Generator()
    g.set_state((5, 4 * (2**32 + 1)))
    want = [w >> 8 for w in stream(5, 2**32 + 1, 2)]
    assert (lamella.rand(8, generator=g) * 2**24).tolist() == want


def test_normal_is_box_and_muller_of_the_uniform_stream():
    u = np.array([w >> 8 for w in stream(3, 0, 250)]) / 2.0**24
    radius, angle = np.sqrt(-2 * np.log(1 - u[::2])), 2 * np.pi * u[1::2]
    want = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).ravel()
    drawn = to_numpy(lamella.randn(1000, generator=seeded(3)))
    np.testing.assert_allclose(drawn, want, rtol=1e-6, atol=2e-6)  # the angle is a float32


@pytest.mark.parametrize("draw", [lamella.rand, lamella.randn])
@pytest.mark.parametrize("dtype", FLOATS)
def test_threads_do_not_change_the_stream(draw, dtype):
    found = set()
    for threads in (1, 2, 3, 8):
        lamella.set_num_threads(threads)
        found.add(bits(draw(100_003, generator=seeded(1), dtype=lt_dtype(dtype))))
    assert len(found) == 1


@pytest.mark.parametrize("draw", [lamella.rand, lamella.randn])
def test_same_seed_same_stream(draw):
    assert bits(draw(50, generator=seeded(8))) == bits(draw(50, generator=seeded(8)))
    assert bits(draw(50, generator=seeded(8))) != bits(draw(50, generator=seeded(9)))
    lamella.manual_seed(8)
    first, second = bits(draw(50)), bits(draw(50))
    assert first == bits(draw(50, generator=seeded(8))) and first != second
    lamella.manual_seed(8)
    assert (bits(draw(50)), bits(draw(50))) == (first, second)


def test_the_stream_does_not_depend_on_shape_or_strides():
    flat = to_numpy(lamella.rand(24, generator=seeded(2)))
    np.testing.assert_array_equal(to_numpy(lamella.rand(2, 3, 4, generator=seeded(2))).ravel(), flat)
    strided = lamella.zeros(4, 6).t().uniform_(generator=seeded(2))
    np.testing.assert_array_equal(to_numpy(strided).ravel(), flat)


def test_calls_go_on_in_the_stream():
    g = seeded(4)
    parts = [to_numpy(lamella.rand(n, generator=g)) for n in (8, 4, 16)]
    np.testing.assert_array_equal(np.concatenate(parts), to_numpy(lamella.rand(28, generator=seeded(4))))


def test_calls_never_reuse_numbers():
    g = seeded(4)
    drawn = np.concatenate([to_numpy(lamella.rand(n, generator=g, dtype=lamella.float64)) for n in (1, 2, 3, 5, 7, 1)])
    assert len(set(drawn)) == len(drawn)


def test_mixed_dtypes_never_reuse_words():
    """A float64 draw after float32 draws uses unused words of the stream."""
    g = seeded(6)
    narrow = to_numpy(lamella.rand(4, generator=g))
    wide = to_numpy(lamella.rand(4, generator=g, dtype=lamella.float64))
    assert not set((narrow * 2**24).astype(int)) & set((wide * 2**24).astype(int))


def test_state():
    g = seeded(7)
    lamella.rand(5, generator=g)
    state = g.get_state()
    first = lamella.rand(9, generator=g).tolist()
    assert g.get_state() != state
    assert g.set_state(state) is g and lamella.rand(9, generator=g).tolist() == first
    assert g.initial_seed() == 7 and g.device == lamella.device("cpu")


def test_seeds():
    assert lamella.manual_seed(11).initial_seed() == lamella.initial_seed() == 11
    assert seeded(-1).initial_seed() == 2**64 - 1
    assert lamella.manual_seed(1.5).initial_seed() == 1  # int(), as in torch
    for wrong in ("x", None, []):
        with pytest.raises(TypeError, match="manual_seed: argument 'seed'"):
            lamella.manual_seed(wrong)
    for wrong in (1.5, "1", None):
        with pytest.raises(TypeError, match="manual_seed: argument 'seed'"):
            lamella.Generator().manual_seed(wrong)
    with pytest.raises(TypeError, match="set_state"):
        lamella.Generator().set_state("x")


COUNT = 200_000


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "draw, law", [(lamella.rand, scipy.stats.uniform()), (lamella.randn, scipy.stats.norm())], ids=["rand", "randn"]
)
def test_distribution(draw, law, dtype):
    x = to_numpy(draw(COUNT, generator=seeded(0), dtype=lt_dtype(dtype))).astype(float)
    assert scipy.stats.kstest(x, law.cdf).pvalue > 1e-3
    for power in (1, 2, 3, 4):
        moment, spread = law.moment(power), np.sqrt(law.moment(2 * power) - law.moment(power) ** 2)
        assert abs((x**power).mean() - moment) < 4 * spread / np.sqrt(COUNT)
    for lag in (1, 2, 3, 4):
        assert abs(np.corrcoef(x[:-lag], x[lag:])[0, 1]) < 4 / np.sqrt(COUNT)


@pytest.mark.parametrize("dtype", FLOATS)
def test_uniform_stays_in_its_range(dtype):
    x = lamella.empty(100_000, dtype=lt_dtype(dtype)).uniform_(-2, 3, generator=seeded(1))
    a = to_numpy(x).astype(float)
    assert a.min() >= -2 and a.max() < 3
    assert scipy.stats.kstest(a, scipy.stats.uniform(-2, 5).cdf).statistic < 0.02
    u = to_numpy(lamella.rand(100_000, generator=seeded(1), dtype=lt_dtype(dtype))).astype(float)
    assert u.min() >= 0 and u.max() < 1


def test_normal_with_mean_and_spread():
    x = to_numpy(lamella.empty(COUNT, dtype=lamella.float64).normal_(5, 3, generator=seeded(1)))
    assert scipy.stats.kstest(x, scipy.stats.norm(5, 3).cdf).pvalue > 1e-3
    assert lamella.empty(4).normal_(2, 0).tolist() == [2.0] * 4


def test_degenerate_ranges():
    assert lamella.empty(3).uniform_(2, 2).tolist() == [2.0] * 3
    assert lamella.rand(0).shape == (0,) and lamella.rand(()).ndim == 0


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda t: t.uniform_(0, float("inf")), "uniform_: argument .to.: inf is beyond"),
        (lambda t: t.uniform_(float("nan"), 1), "uniform_: the range"),
        (lambda t: t.normal_(0, float("nan")), "normal_: argument 'std'"),
    ],
)
def test_wrong_parameters(call, text):
    t = lamella.zeros(2)
    with pytest.raises(RuntimeError, match=text):
        call(t)
    assert t.tolist() == [0.0, 0.0]


def test_meta_draws_nothing():
    g = seeded(0)
    state = lamella.manual_seed(1).get_state()
    assert lamella.rand(3, device="meta").shape == (3,)
    assert lamella.manual_seed(1).get_state() == state and g.get_state() == (0, 0)


def raw_words(count, seed):
    w = lamella.empty(count, dtype=lamella.uint32)
    return to_numpy(lamella.ops.aten._random_bits_(w, generator=seeded(seed)))


@pytest.mark.parametrize("count", [0, 1, 5, 255, 256, 257, 5000])
def test_raw_words_are_philox(count):
    np.testing.assert_array_equal(raw_words(count, 12), np.array(stream(12, 0, count // 4 + 1)[:count], np.uint32))
    with pytest.raises(RuntimeError, match="_random_bits_: argument 'self': expected dtype uint32, got float32"):
        lamella.ops.aten._random_bits_(lamella.empty(2))


def composite(*ops):
    return lamella.library.kernels_disabled([f"aten::{op}" for op in ops], "cpu")


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("count", [0, 1, 2, 7, 1000, 4099])
def test_composites_draw_the_same_numbers(dtype, count):
    """Composites over the raw words give the kernels' numbers; normal numbers differ in their last bits."""

    def uniform():
        return to_numpy(lamella.empty(count, dtype=lt_dtype(dtype)).uniform_(-2, 3, generator=seeded(5))).astype(float)

    def normal():
        return to_numpy(lamella.empty(count, dtype=lt_dtype(dtype)).normal_(1, 2, generator=seeded(5))).astype(float)

    def bernoulli():
        return lamella.empty(count).bernoulli_(0.3, generator=seeded(5)).tolist()

    native = uniform(), normal(), bernoulli()
    with composite("uniform_", "normal_", "bernoulli_.float"):
        np.testing.assert_array_equal(uniform(), native[0])
        close = {"float64": 1e-13, "float32": 1e-5}.get(dtype, 0.02)
        np.testing.assert_allclose(normal(), native[1], rtol=close, atol=close)
        assert bernoulli() == native[2]


RANGES = [(0, 1), (0, 100), (-5, 7), (0, 2**31), (0, 2**31 + 1), (-(2**62), 2**61), (2**63 - 2, 2**63 - 1)]
RANGES += [(-(2**63), 2**63 - 1), (-(2**62), 2**62), (-(2**63), 1)]


@pytest.mark.parametrize("low, high", RANGES)
def test_integers_from_a_range(low, high):
    def draw():
        return to_numpy(lamella.randint(low, high, (2001,), generator=seeded(2)))

    x = draw()
    assert x.dtype == np.int64 and x.min() >= low and x.max() < high
    if high - low < 1000:
        assert scipy.stats.chisquare(np.bincount(x - low, minlength=high - low)).pvalue > 1e-3 or high - low == 1
    else:
        assert scipy.stats.kstest(x.astype(float), scipy.stats.uniform(low, high - low).cdf).pvalue > 1e-3
    with composite("random_.from"):
        np.testing.assert_array_equal(draw(), x)


def test_integers_of_other_dtypes():
    assert lamella.randint(5, (3,), dtype=lamella.float32).dtype is lamella.float32
    for dtype in ("bool", "uint8", "int8", "uint16", "int16", "int32", "float16", "bfloat16", "float32"):
        x = lamella.zeros(4000, dtype=lt_dtype(dtype)).random_(generator=seeded(1))
        a = to_numpy(x).astype(float)
        top = {"bool": 1, "float16": 2**11, "bfloat16": 2**8, "float32": 2**24}.get(dtype) or np.iinfo(dtype).max
        assert a.min() >= 0 and a.max() <= top and abs(a.mean() / top - 0.5) < 0.03


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda: lamella.zeros(2, dtype=lamella.uint8).random_(0, 300), "random_: argument 'to': .* dtype uint8"),
        (lambda: lamella.zeros(2, dtype=lamella.uint8).random_(-1, 3), "random_: argument 'from': .* dtype uint8"),
        (lambda: lamella.zeros(2).uniform_(-3e38, 3e38), "uniform_: argument 'to': .*wider"),
        (lambda: lamella.zeros(2, dtype=lamella.float16).uniform_(0, 1e6), "uniform_: argument 'to': 1e.06 is beyond"),
        (lambda: lamella.zeros(2).uniform_(float("nan"), 1), "uniform_: the range"),
        (lambda: lamella.zeros(2, dtype=lamella.float16).random_(-1000000, 10), "random_: argument 'from': .*beyond"),
        (lambda: lamella.multinomial(lamella.tensor([1.0, -1.0]), 1), "multinomial: argument 'self': .*not negative"),
        (lambda: lamella.multinomial(lamella.tensor([0.0, 1.0]), 2), "multinomial: argument 'self': .*fewer than 2"),
        (lambda: lamella.multinomial(lamella.tensor([float("nan"), 1.0]), 1), "multinomial: argument 'self'"),
    ],
)
def test_wrong_draws(call, text):
    with pytest.raises(RuntimeError, match=text):
        call()


@pytest.mark.parametrize("native", [True, False])
def test_no_probability(native):
    """Both the kernel and the composite refuse numbers that are no probabilities."""
    passed_over = ["aten::bernoulli", "aten::bernoulli_.Tensor"]
    with nullcontext() if native else lamella.library.kernels_disabled(passed_over, "cpu"):
        for wrong in (2.0, -0.5, float("nan")):
            p = lamella.tensor([0.5, wrong])
            with pytest.raises(RuntimeError, match="bernoulli_: argument 'p': a probability"):
                lamella.zeros(2).bernoulli_(p)
            with pytest.raises(RuntimeError, match="bernoulli: argument 'self': a probability"):
                lamella.bernoulli(p)


def test_probabilities_in_the_memory_that_is_written():
    x = (lamella.arange(5000) % 2).to(lamella.float32)
    p = x[:-1].clone()
    assert (x[1:].bernoulli_(x[:-1]) == p).all()
    assert (p.bernoulli_(p) == x[1:]).all()


def test_seeds_and_states():
    for seed in (0, 2**64 - 1, -1, -(2**63)):
        assert lamella.Generator().manual_seed(seed).initial_seed() == seed % 2**64
    for seed in (2**64, -(2**63) - 1):
        for f in (lamella.manual_seed, lamella.Generator().manual_seed):
            with pytest.raises(ValueError, match="manual_seed: argument 'seed': .*64 bits"):
                f(seed)
    with pytest.raises(ValueError, match="set_state: argument 'state': the offset 3"):
        lamella.Generator().set_state((1, 3))


@pytest.mark.parametrize("count", [0, 1, 2, 1000, 3001, 200_003])
def test_a_permutation_is_the_order_of_random_keys(count):
    high, low = raw_words(2 * count, 6).astype(np.int64).reshape(-1, 2).T
    order = np.argsort(high << 31 | low >> 1, kind="stable")
    for threads in (1, 2):
        lamella.set_num_threads(threads)
        np.testing.assert_array_equal(to_numpy(lamella.randperm(count, generator=seeded(6))), order)
    with composite("_permute_randomly_"):
        np.testing.assert_array_equal(
            to_numpy(lamella.randperm(count, generator=seeded(6), dtype=lamella.int32)), order
        )


def test_bernoulli_of_probabilities():
    p = lamella.tensor([[0.0, 0.25, 0.5, 1.0]]).expand(50_000, 4)
    x = to_numpy(lamella.bernoulli(p, generator=seeded(1)))
    np.testing.assert_allclose(x.mean(0), [0, 0.25, 0.5, 1], atol=0.01)
    assert set(np.unique(x)) == {0, 1}
    assert lamella.zeros(3, dtype=lamella.int64).bernoulli_(lamella.tensor([1.0, 0.0, 1.0])).tolist() == [1, 0, 1]


def test_dropout():
    x = lamella.ones(100_000)
    y = to_numpy(lamella.dropout(x, 0.2, True))
    assert set(np.unique(y)) == {0, np.float32(1.25)} and abs((y == 0).mean() - 0.2) < 0.01
    assert lamella.dropout(x, 0.2, False) is x and lamella.dropout(x, 1, True).sum().item() == 0


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("replacement", [True, False])
def test_multinomial(dtype, replacement):
    weights = np.array([[1, 0, 3, 4], [5, 5, 0, 10.0]])
    t = to_lamella(weights.astype(dtype))
    draws = [to_numpy(lamella.multinomial(t, 2, replacement, generator=seeded(i))) for i in range(3000)]
    first = np.stack(draws)[:, :, 0]
    for row in range(2):
        share = np.bincount(first[:, row], minlength=4) / len(first)
        np.testing.assert_allclose(share, weights[row] / weights[row].sum(), atol=0.04)
    if not replacement:
        assert all((d[:, 0] != d[:, 1]).all() for d in draws)
    with composite("_search_cdf"):
        again = to_numpy(lamella.multinomial(t, 2, replacement, generator=seeded(0)))
    np.testing.assert_array_equal(again, draws[0])


def test_normal_of_tensors():
    mean, std = lamella.tensor([0.0, 100.0]), lamella.tensor([[1.0], [0.0]])
    x = lamella.normal(mean, std, generator=seeded(0))
    assert x.shape == (2, 2) and x[1].tolist() == [0.0, 100.0] and x[0, 1].item() != 100.0
    assert lamella.normal(5.0, 0.0, (3,)).tolist() == [5.0] * 3


def test_drawn_like():
    x = lamella.zeros(3, 2, dtype=lamella.float64)
    for y in (lamella.rand_like(x), lamella.randn_like(x), lamella.randint_like(x, 9), lamella.randint_like(x, 3, 9)):
        assert y.shape == x.shape and y.dtype is x.dtype


def drawn_uniform(n, dtype):
    return to_numpy(lamella.rand(n, generator=seeded(5), dtype=lt_dtype(dtype))).astype(np.float64)


DRAWN = {
    "exponential_": ((2.5,), lambda u: -np.log(1 - u) / 2.5, scipy.stats.expon(scale=1 / 2.5)),
    "cauchy_": ((1.0, 3.0), lambda u: 1 + 3 * np.tan(np.pi * (u - 0.5)), scipy.stats.cauchy(1, 3)),
}


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_distributions_of_one_uniform_number_each(name, dtype):
    args, formula, law = DRAWN[name]
    t = getattr(lamella.empty(5000, dtype=lt_dtype(dtype)), name)(*args, generator=seeded(5))
    u = drawn_uniform(5000, dtype)
    np.testing.assert_allclose(to_numpy(t), formula(u), rtol=1e-3 if dtype == "float32" else 1e-12, atol=1e-3)
    assert scipy.stats.kstest(to_numpy(t), law.cdf).pvalue > 0.01


@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8"])
def test_geometric_numbers(dtype):
    t = to_numpy(lamella.empty(20_000, dtype=lt_dtype(dtype)).geometric_(0.3, generator=seeded(5)))
    assert t.min() == 1
    law = scipy.stats.geom(0.3)
    counts = np.array([(t == k).sum() for k in range(1, 10)] + [(t >= 10).sum()])
    expected = np.array([law.pmf(k) for k in range(1, 10)] + [law.sf(9)]) * t.size
    assert scipy.stats.chisquare(counts, expected).pvalue > 0.01


def test_log_normal_numbers_are_exponentials_of_the_normal_stream():
    t = lamella.empty(1000, dtype=lamella.float64).log_normal_(0.5, 0.25, generator=seeded(5))
    z = lamella.empty(1000, dtype=lamella.float64).normal_(0.5, 0.25, generator=seeded(5))
    np.testing.assert_array_equal(to_numpy(t), to_numpy(z.exp()))
