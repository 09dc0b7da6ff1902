"""The tests of the samples find errors: they report one altered element of any operator's result."""

import contextlib
import math

import checks
import lamella
import pytest
from catalogue import BY_TITLE, SAMPLED, flat
from compare import expected, has_oracle
from lamella.operators import samples


def altered(value):
    """Returns a number that differs from the value by more than every tolerance."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, complex):
        return complex(altered(value.real), value.imag)
    if isinstance(value, int):
        return value - 1 if value > 0 else value + 1
    if not math.isfinite(value):
        return 0.5
    return -value if abs(value) > 1 else value + 3


def alter_one(t, place: int) -> bool:
    """Changes one element; returns False if there is none."""
    if not isinstance(t, lamella.Tensor) or t.numel() == 0:
        return False
    at, left = [], place % t.numel()
    for n in reversed(t.shape):
        at.insert(0, left % n)
        left //= n
    one = t[tuple(at)] if at else t
    value = one.item()
    one.fill_(altered(value))
    return one.item() != value


@contextlib.contextmanager
def planted(operator: str, at: int = 0):
    """Alters one element of the result at ``at`` of each call inside the block; the list has one entry for each."""
    o, done = BY_TITLE[operator], []

    def handler(call, *args, **kwargs):
        result = call(*args, **kwargs)
        if call.name == o["name"] and call.overload == o["overload"]:
            with layer.off():
                if isinstance(result, (bool, int, float, complex)):
                    done.append(True)
                    return altered(result)
                first = args[0] if result is None else result  # an update returns nothing and writes its first list
                done.extend(alter_one(r, 5) for r in flat(first)[at : at + 1])
        return result

    layer = lamella.library.register_layer("planted", handler)
    try:
        yield layer, done
    finally:
        layer.remove()


ALTERABLE = [t for t in SAMPLED if not all(s.tag for s in samples.of(t))]  # uninitialized memory has nothing to alter


def compared(sample) -> int:
    """Returns the place of the first result that the oracle determines: singular vectors, for example, are not."""
    wanted = expected(sample) if has_oracle(sample.operator) and sample.tag != "free" else []
    return next((i for i, want in enumerate(wanted) if want is not None), 0)


@pytest.mark.sweep
@pytest.mark.parametrize("operator", ALTERABLE)
def test_an_altered_element_is_reported(operator):
    """Every sample whose result was altered is reported, and at least one result was altered."""
    seen = 0
    for sample in samples.of(operator):
        if sample.tag == "free":
            continue
        with planted(operator, compared(sample)) as (layer, done):
            found = checks.value_faults(sample, layer.on())
        if any(done):
            seen += 1
            assert found, f"{sample}: an altered element went unnoticed"
    assert seen, "no sample reached the operator"
