"""Results that are positions or counts: out= takes tensors of their dtype alone; others could hold other numbers."""

import lamella
import pytest
from catalogue import FUNCTIONAL, flat, run
from checks import form_of
from lamella.operators import samples

OTHERS = [lamella.uint8, lamella.int32, lamella.float64]
WITH_OUT = [t for t in FUNCTIONAL if form_of(t, "out") and samples.of(t)]


def of_floats(operator) -> list:
    """Returns a sample whose tensors are floating and which names no dtype: its integers are positions or counts."""
    found = [s for s in samples.of(operator) if s.specs() and "dtype" not in s.text]
    return [s for s in found if all(x.dtype == "float32" for x in s.specs())][:1]


def counted(sample) -> list[int]:
    """Returns which results are integers."""
    return [i for i, r in enumerate(flat(run(sample))) if r.dtype in (lamella.int64, lamella.int32)]


EXACT = [(t, s, counted(s)) for t in WITH_OUT for s in of_floats(t) if counted(s)]


def test_operators_are_found():
    names = {t.partition(".")[0] for t, _, _ in EXACT}
    assert {"topk", "sort", "max", "min", "argmax", "argmin", "cummax", "cummin", "kthvalue", "mode", "median"} <= names
    assert {"nanmedian", "searchsorted", "bucketize", "count_nonzero"} <= names


@pytest.mark.parametrize("operator, sample, at", EXACT, ids=[t for t, _, _ in EXACT])
def test_only_its_dtype(operator, sample, at):
    results = flat(run(sample))
    for i in at:
        for dtype in OTHERS:
            if dtype == results[i].dtype:
                continue
            outs = [lamella.zeros(tuple(r.shape), dtype=dtype if k == i else r.dtype) for k, r in enumerate(results)]
            with pytest.raises(RuntimeError, match=f"has dtype .*{str(results[i].dtype).rpartition('.')[2]}"):
                run(sample, out=tuple(outs) if len(outs) > 1 else outs[0])
            assert all(not o.any() for o in outs)


def test_index_beyond_a_byte():
    x = lamella.arange(300.0)
    with pytest.raises(RuntimeError, match="topk: argument 'indices' has dtype uint8, .* pass a tensor of dtype int64"):
        lamella.topk(x, 1, out=(lamella.empty(1), lamella.empty(1, dtype=lamella.uint8)))
    values, indices = lamella.empty(1), lamella.empty(1, dtype=lamella.int64)
    lamella.topk(x, 1, out=(values, indices))
    assert indices.tolist() == [299] and values.tolist() == [299]
    narrow = lamella.empty(1, dtype=lamella.int32)
    assert lamella.searchsorted(x, lamella.tensor([298.5]), out_int32=True, out=narrow).tolist() == [299]
    with pytest.raises(RuntimeError, match="int64"):
        lamella.searchsorted(x, lamella.tensor([298.5]), out=narrow)
