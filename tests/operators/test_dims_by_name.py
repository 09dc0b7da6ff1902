"""Dimensions by name: every operator gives for names the bits that it gives for numbers, in each of its samples."""

import lamella
import pytest
from catalogue import BY_TITLE, FUNCTIONAL, RANDOM, bits, flat, run
from lamella.operators import samples


def named(value, ndim):
    """Returns an argument with the numbers of dimensions replaced by names, None if it has none.

    A negative number stays: in a call that adds a dimension it counts from the result's end.
    """
    if isinstance(value, (list, tuple)):
        items = [named(d, ndim) or d for d in value]
        return items if any(isinstance(d, str) for d in items) else None
    counts = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < ndim
    return f"d{value}" if counts else None


def by_name(sample):
    """Returns positional and keyword arguments of a sample with names in place of numbers; None if it has no number."""
    args, kwargs = sample.build()
    tensors = [t for t in flat(args) if isinstance(t, lamella.Tensor)]
    if not tensors:
        return None
    changed = False
    names = [a["name"] for a in BY_TITLE[sample.operator]["args"]]
    counting = {a["name"] for a in BY_TITLE[sample.operator]["args"] if a["dim"]}
    for place, key in [*enumerate(names[: len(args)]), *((key, key) for key in kwargs)]:
        where = args if isinstance(place, int) else kwargs
        found = named(where[place], tensors[0].ndim) if key in counting else None
        if found is not None:
            where[place], changed = found, True
    return (args, kwargs) if changed else None


SAMPLES = {title: [s for s in samples.of(title) if by_name(s)][:4] for title in FUNCTIONAL}
WITH_DIMS = sorted(title for title, found in SAMPLES.items() if found)


@pytest.fixture
def names():
    """Names the dimensions of every tensor d0, d1, …"""
    lib = lamella.library.Library("aten", "IMPL", owner="the test")

    def find(tensor, name):
        return [f"d{i}" for i in range(tensor.ndim)].index(name)

    lib.register_dim_resolver(find)
    yield
    lib.close()


@pytest.mark.sweep
@pytest.mark.parametrize("title", WITH_DIMS)
def test_same_bits(names, title):
    for sample in SAMPLES[title]:
        if sample.tag == "free" or BY_TITLE[title]["category"] == RANDOM:
            assert [getattr(r, "shape", r) for r in flat(run(sample, built=by_name(sample)))]
        else:
            assert bits(run(sample, built=by_name(sample))) == bits(run(sample)), sample


def test_there_are_many():
    for title in ("sum.dim_IntList", "softmax.int", "cat", "transpose.int", "flip", "squeeze.dims", "max.dim"):
        assert title in WITH_DIMS
    assert len(WITH_DIMS) > 60
