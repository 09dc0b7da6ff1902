"""Sizes, dtypes and strides of results are torch's, as record_torch.py recorded them."""

import checks
import lamella
import pytest
from catalogue import BY_TITLE, SAMPLED
from lamella.operators import samples
from record_torch import described, flat, key, recorded

TORCH = recorded()
# Categories whose order in memory is compared; for others only sizes and dtype are.
KEEPS_STRIDES = ("pointwise", "view", "creation", "copy")
# Operators whose order differs from torch's: here the second operand decides, or the result is row-major.
OTHER_ORDER = tuple("rsub pow float_power flip fliplr flipud rot90 conj complex polar angle log_sigmoid".split())
OTHER_ORDER += ("mvlgamma", "_standard_gamma_grad", "_dirichlet_grad")
# torch's private operators of these names have no status of each matrix as a last result.
OTHER_RESULTS = ("_linalg_eigh", "_linalg_svd")

# Optional results that the call did not request: either lamella or torch leaves them empty.
# torch leaves the residuals of least squares empty for its default driver, although its page promises them.
ASKED_FOR = ("unique_dim", "embedding_bag", "embedding_bag.padding_idx", "linalg_lstsq")
EMPTY = {"i64[0]", "i32[0]", "f32[0]", "f64[0]"}
# torch's mask of an empty input has the input's dtype, and torch leaves an image without pixels unchanged.
RESULTS_OF_NOTHING = ("native_dropout(f32[0, 3], 0.5, True)", "pixel_unshuffle(f32[0, 1, 4, 2], 2)")


def recorded_faults(sample):
    wanted = TORCH[key(sample)]
    got = " ".join(described(r) for r in flat(checks.run(sample), lamella.Tensor))
    other = sample.operator.partition(".")[0] in OTHER_ORDER
    if other or BY_TITLE[sample.operator]["category"] not in KEEPS_STRIDES:
        wanted, got = (" ".join(r.partition("(")[0] for r in x.split(" ")) for x in (wanted, got))
    if sample.operator in ASKED_FOR:
        pairs = list(zip(got.split(" "), wanted.split(" "), strict=True))
        got, wanted = (" ".join(pair[k] for pair in pairs if not EMPTY & set(pair)) for k in (0, 1))
    return [] if got == wanted else [f"{sample}: {got}, torch gives {wanted}"]


@pytest.mark.parametrize("operator", [t for t in SAMPLED if t not in OTHER_RESULTS])
def test_results_are_described_as_torch_describes_them(operator):
    chosen = [s for s in samples.of(operator) if key(s) in TORCH and s.text not in RESULTS_OF_NOTHING]
    found = [what for s in chosen for what in recorded_faults(s)]
    assert not found, "\n".join(found[:12])


def test_the_record_holds_most_samples():
    # Lists are recorded by their single operators; a number has neither sizes nor a dtype. Torch lacks some of the
    # operators whose names begin with an underscore.
    kinds = {t: any("Tensor" in kind for kind, _ in BY_TITLE[t]["returns"]) for t in SAMPLED}
    single = [t for t in SAMPLED if kinds[t] and BY_TITLE[t]["category"] != "lists"]
    lists = [[s for s in samples.of(operator) if s.specs()] for operator in single]
    shared = [each for each in lists if each and (each[0].operator[0] != "_" or any(key(s) in TORCH for s in each))]
    chosen = [s for each in shared for s in each]
    assert sum(key(s) in TORCH for s in chosen) > 0.95 * len(chosen), "run tests/operators/record_torch.py"
