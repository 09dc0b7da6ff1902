"""Every operator with every sample: values, meta, forms, layouts, position in memory, threads, and bad calls."""

import checks
import pytest
from catalogue import BY_TITLE, SAMPLED, state, tensors
from compare import has_oracle
from lamella.operators import samples

OURS = [t for t in SAMPLED if BY_TITLE[t]["category"] not in ("matmul", "convolution")]  # these do not use oneDNN


def faults(check, chosen):
    """Returns the faults that a check finds in samples, one line each."""
    return [f"{s}: {what}" for s in chosen for what in check(s)]


def assert_none(found):
    assert not found, f"{len(found)} faults\n" + "\n".join(found[:12])


def plain(operator):
    """Returns the samples whose layout the tests change: one of each dtype class, contiguous, with elements."""
    found = {}
    for s in samples.of(operator):
        specs = s.specs()
        if specs and has_oracle(operator) and all(x.contiguous and x.span and not x.offset for x in specs):
            if specs[0].shape and "special" not in s.text:
                found.setdefault(specs[0].kind, s)
    return list(found.values())


@pytest.mark.parametrize("operator", SAMPLED)
def test_values(operator):
    check = checks.value_faults
    assert_none(faults(check, samples.of(operator)))
    if not has_oracle(operator) and not all(s.tag for s in samples.of(operator)):
        assert_none(faults(checks.same_call_faults, samples.of(operator)))


@pytest.mark.sweep
@pytest.mark.parametrize("operator", SAMPLED)
def test_meta(operator):
    assert_none(faults(checks.meta_faults, samples.of(operator)))


INPLACE = [t for t in SAMPLED if checks.form_of(t, "inplace")]
OUT = [t for t in SAMPLED if checks.form_of(t, "out")]


@pytest.mark.parametrize("operator", INPLACE)
def test_inplace_form(operator):
    assert_none(faults(checks.inplace_faults, samples.of(operator)))


@pytest.mark.parametrize("operator", OUT)
def test_out_form(operator):
    assert_none(faults(checks.out_faults, samples.of(operator)))


@pytest.mark.sweep
@pytest.mark.parametrize("operator", [t for t in SAMPLED if plain(t)])
def test_layouts(operator):
    assert_none(faults(checks.layout_faults, plain(operator)))


ELEMENTWISE = [t for t in SAMPLED if BY_TITLE[t]["category"] == "pointwise" and plain(t)]


@pytest.mark.parametrize("operator", ELEMENTWISE)
def test_six_dimensions(operator):
    larger = [s.relaid(checks.six_dimensional) for s in plain(operator)]
    assert_none(faults(checks.value_faults, larger))


@pytest.mark.sweep
@pytest.mark.parametrize("operator", [t for t in OURS if plain(t)])
def test_position_in_memory(operator):
    chosen = [s for s in plain(operator) if operator.partition(".")[0] not in checks.STRICT]
    assert_none(faults(checks.position_faults, chosen))


GROWING = ("pointwise", "reduction", "scan", "sort")


@pytest.mark.sweep
@pytest.mark.parametrize(
    "operator",
    # The bins of histograms have as many dimensions as the points have coordinates, and cannot grow.
    [t for t in OURS if BY_TITLE[t]["category"] in GROWING and plain(t) and not t.startswith("histogram")],
)
def test_threads(operator):
    assert_none(faults(checks.thread_faults, plain(operator)[:2]))


@pytest.mark.parametrize("operator", [t for t in SAMPLED if samples.bad(t)])
def test_bad_calls(operator):
    assert_none(faults(bad_faults, samples.bad(operator)))


def bad_faults(sample):
    """A bad sample must raise the expected error, which names the operator and an argument, and change no argument."""
    built = sample.build()
    before = [state(t) for t in tensors(built)]
    name = sample.operator.partition(".")[0]
    try:
        checks.run(sample, built=built)
    except Exception as error:
        kinds = [c.__name__ for c in type(error).__mro__]
        line = str(error).partition("\n")[0]
        found = [] if sample.raises in kinds else [f"raised {type(error).__name__}: {error}"]
        if not line.startswith((name + ":", "index")):
            found.append(f"the message does not open with '{name}:': {line}")
        if sample.quotes and not any(f"'{q}'" in line for q in sample.quotes):
            found.append(f"the message quotes none of {', '.join(sample.quotes)}: {line}")
    else:
        found = ["raised nothing"]
    return found + (["an argument changed"] if [state(t) for t in tensors(built)] != before else [])
