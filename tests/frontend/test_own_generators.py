"""Generators of a thread: a block makes one thread draw from another generator; the rest of the program does not."""

import copy
from concurrent.futures import ThreadPoolExecutor

import lamella
import pytest
from lamella.random import drawing_from, fork_rng
from threads import in_threads


@pytest.fixture(autouse=True)
def program():
    """Sets the program's generator to a known state, and restores it afterwards."""
    state = lamella.get_rng_state()
    lamella.manual_seed(1)
    yield
    lamella.set_rng_state(state)


def seeded(seed):
    return lamella.Generator().manual_seed(seed)


def numbers(seed, count=3):
    return lamella.rand(count, generator=seeded(seed)).tolist()


def test_a_block_draws_from_the_generator_and_nobody_else_does():
    own = seeded(2)
    with ThreadPoolExecutor(1) as pool, drawing_from(own) as given:
        assert given.get_state() == own.get_state() and lamella.initial_seed() == 2
        beside = pool.submit(lambda: lamella.rand(3).tolist()).result(20)
        assert lamella.rand(3).tolist() == numbers(2)
    assert beside == numbers(1)
    assert lamella.get_rng_state() == (1, 4) and own.get_state() == (2, 4)


def test_blocks_nest_and_end_by_errors():
    block = drawing_from(seeded(2))
    with pytest.raises(KeyError), block, drawing_from(seeded(3)):
        assert lamella.rand(3).tolist() == numbers(3)
        with block:
            assert lamella.rand(3).tolist() == numbers(2)
        assert lamella.initial_seed() == 3
        raise KeyError
    assert lamella.get_rng_state() == (1, 0)
    with pytest.raises(RuntimeError, match="has not begun"):
        block.__exit__(None, None, None)


def test_seeds_and_states_within_a_block():
    with drawing_from(seeded(2)) as own:
        lamella.manual_seed(5)
        assert own.initial_seed() == 5 == lamella.initial_seed() == lamella.default_generator().initial_seed()
        lamella.set_rng_state((6, 8))
        assert lamella.get_rng_state() == (6, 8) == own.get_state() == lamella.cpu.get_rng_state()
    assert lamella.get_rng_state() == (1, 0)


def test_a_captured_state_has_the_generator():
    with drawing_from(seeded(2)):
        state = lamella.capture_state()
    with ThreadPoolExecutor(1) as pool:
        first, second = (pool.submit(state.run, lambda: lamella.rand(4).tolist()).result(20) for _ in range(2))
        assert first + second == numbers(2, 8)
        assert pool.submit(lamella.initial_seed).result(20) == 1


def held(generator):
    """Yields its thread's draws, inside an open block."""
    with drawing_from(generator):
        while True:
            yield lamella.rand(3).tolist()


def test_blocks_end_in_any_order():
    first, second, third = held(seeded(2)), held(seeded(3)), held(seeded(4))
    assert [next(g) for g in (first, second, third)] == [numbers(n) for n in (2, 3, 4)]
    first.close()
    assert lamella.initial_seed() == 4
    third.close()
    assert lamella.initial_seed() == 3
    second.close()
    lamella.manual_seed(9)
    assert lamella.default_generator().get_state() == (9, 0) and lamella.rand(3).tolist() == numbers(9)


def test_a_block_that_another_thread_ends():
    inner = held(seeded(2))
    with drawing_from(seeded(3)):
        next(inner)
        in_threads(inner.close)
        assert lamella.initial_seed() == 3
    assert lamella.initial_seed() == 1 and lamella.rand(3).tolist() == numbers(1)


def test_a_captured_state_outlives_the_blocks_that_it_has():
    inner = held(seeded(2))
    next(inner)
    state = lamella.capture_state()
    inner.close()
    assert state.run(lamella.initial_seed) == 2 and lamella.initial_seed() == 1


def test_blocks_of_a_captured_state_end_with_it():
    with drawing_from(seeded(2)):
        state = lamella.capture_state()
    inner = held(seeded(3))
    assert state.run(next, inner) == numbers(3)
    assert lamella.initial_seed() == 1
    inner.close()
    assert lamella.initial_seed() == 1 and state.run(lamella.initial_seed) == 2


def test_a_thread_that_ends_in_a_block():
    block = drawing_from(seeded(2))
    in_threads(block.__enter__)
    assert lamella.initial_seed() == 1


@pytest.mark.parametrize("wrong", [None, 3, "cpu"])
def test_what_is_no_generator(wrong):
    with pytest.raises(TypeError, match="must be a Generator"):
        drawing_from(wrong)


def test_fork_rng_leaves_other_threads_alone():
    with fork_rng():
        assert lamella.initial_seed() == 1
        lamella.manual_seed(7)
        with ThreadPoolExecutor(1) as pool:
            pool.submit(lamella.manual_seed, 8).result(20)
        assert lamella.rand(3).tolist() == numbers(7)
    assert lamella.rand(3).tolist() == numbers(8)


def test_fork_rng_of_devices():
    with fork_rng(devices=["cpu", lamella.device("cpu", 0), 0], device_type="cpu"):
        lamella.rand(3)
    with fork_rng(enabled=False):
        lamella.rand(3)
    assert lamella.get_rng_state() == (1, 4)


def test_a_checkpoint_that_runs_again_beside_a_thread_that_seeds():
    from lamella.utils.checkpoint import checkpoint

    drawn = []

    def noisy(x):
        drawn.append(lamella.rand(3))
        if len(drawn) == 2:
            with ThreadPoolExecutor(1) as pool:
                pool.submit(lamella.manual_seed, 9).result(20)
        return (x * drawn[-1]).exp()

    x = lamella.ones(3, requires_grad=True)
    checkpoint(noisy, x).sum().backward()
    assert drawn[0].tolist() == drawn[1].tolist() and lamella.get_rng_state() == (9, 0)


def test_a_copy_goes_on_from_the_same_place():
    own = seeded(2)
    lamella.rand(3, generator=own)
    assert copy.copy(own).get_state() == (2, 4)
