"""Sampling: the number of calls between two observed ones is geometric, for each observer independently.

The bounds are Chernoff's: by chance a test fails less than once in a thousand million runs, for each bound.
"""

import math

import lamella
import pytest
from lamella import profiler
from observing import BACKWARD, FUNCTION, USER, callback, observed
from threads import in_threads

CHANCE = 1e-10  # the probability of exceeding a bound by chance


def bounds(n, p):
    """Returns limits of a binomial's successes in n trials, exceeded with at most twice CHANCE (Chernoff's bounds)."""
    k = math.log(1 / CHANCE)
    mean = n * p
    return mean - math.sqrt(2 * mean * k), mean + k / 3 + math.sqrt(k * k / 9 + 2 * mean * k)


def blocks(n):
    block = profiler.record_function("block")
    for _ in range(n):
        with block:
            pass


@pytest.mark.parametrize("p", [0.5, 0.1, 0.01])
def test_the_share_that_is_heard_of(p):
    heard = []
    n = int(3000 / p) if p > 0.05 else 100_000
    with observed(lambda r: heard.append(1), scopes=(USER,), p=p):
        blocks(n)
    low, high = bounds(n, p)
    assert low < len(heard) < high


def test_the_gaps_are_geometric():
    """A gap has probability p (1 - p) ** (gap - 1), and is independent of the gap before."""
    p, n, at, now = 0.3, 40_000, [], [0]
    block = profiler.record_function("block")
    with observed(lambda r: at.append(now[0]), scopes=(USER,), p=p):
        for now[0] in range(n):  # noqa: B020
            with block:
                pass
    gaps = [b - a for a, b in zip(at, at[1:], strict=False)]
    m = len(gaps)
    for gap in range(1, 12):
        low, high = bounds(m, p * (1 - p) ** (gap - 1))
        assert low < gaps.count(gap) < high, gap
    pairs = sum(a == b == 1 for a, b in zip(gaps[::2], gaps[1::2], strict=False))  # disjoint, so independent
    low, high = bounds(m // 2, p * p)
    assert low < pairs < high


def test_observers_are_drawn_independently():
    n, heard = 20_000, [set(), set()]
    now = [0]
    block = profiler.record_function("block")
    with (
        observed(lambda r: heard[0].add(now[0]), scopes=(USER,), p=0.2),
        observed(lambda r: heard[1].add(now[0]), scopes=(USER,), p=0.3),
    ):
        for now[0] in range(n):  # noqa: B020
            with block:
                pass
    for count, p in (len(heard[0]), 0.2), (len(heard[1]), 0.3), (len(heard[0] & heard[1]), 0.06):
        low, high = bounds(n, p)
        assert low < count < high


def test_a_rare_one_beside_one_that_hears_all():
    n, every, few = 20_000, [], []
    with (
        observed(lambda r: every.append(1), scopes=(USER,)),
        observed(lambda r: few.append(1), scopes=(USER,), p=0.01),
    ):
        blocks(n)
    low, high = bounds(n, 0.01)
    assert len(every) == n and low < len(few) < high


def test_operators_and_steps_of_backward():
    n, calls, steps = 3000, [], []
    x = lamella.ones(2, requires_grad=True)
    with (
        observed(lambda r: calls.append(1), scopes=(FUNCTION,), p=0.25),
        observed(lambda r: steps.append(1), scopes=(BACKWARD,), p=0.25),
    ):
        for _ in range(n):
            x.exp()
        y = x
        for _ in range(n):
            y = y * 1
        y.sum().backward()
    low, high = bounds(n, 0.25)
    assert low + low < len(calls) < 2 * high + n  # backward calls operators too
    assert low < len(steps) < high + 10


def test_each_thread_draws_for_itself():
    """In threads that make the same calls at the same time, different calls are observed."""
    found = {}

    def work(k):
        block, mine = profiler.record_function(str(k)), []
        now[k] = 0
        found[k] = mine
        for i in range(4000):
            now[k] = i
            with block:
                pass

    now = {}
    with observed(lambda r: found[int(r.name)].append(now[int(r.name)]), scopes=(USER,), p=0.1):
        in_threads(*[lambda k=k: work(k) for k in range(3)])
    low, high = bounds(4000, 0.1)
    assert all(low < len(f) < high for f in found.values())
    assert len({tuple(f) for f in found.values()}) == 3


def test_a_rare_probability_is_taken():
    heard = []
    with observed(lambda r: heard.append(1), scopes=(USER,), p=1e-300):
        blocks(1000)
    assert heard == []
    assert callback(print).sampling_prob(5e-324)
