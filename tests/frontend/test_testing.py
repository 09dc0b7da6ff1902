"""lamella.testing: assert_close accepts some values and explains the others; make_tensor; allclose and equal."""

import math

import lamella
import ml_dtypes
import numpy as np
import pytest
from arrays import COMPLEX, DTYPES, FLOATS, INTEGERS, class_of, lt_dtype, np_dtype
from lamella.testing import TOLERANCES, assert_allclose, assert_close, make_tensor

# The documented default tolerances of torch.testing.assert_close.
DOCUMENTED = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}


def failure(actual, expected, **options):
    with pytest.raises(AssertionError) as caught:
        assert_close(actual, expected, **options)
    return str(caught.value)


@pytest.mark.parametrize("dtype", FLOATS + COMPLEX)
def test_tolerances(dtype):
    rtol, atol = DOCUMENTED[dtype]
    assert TOLERANCES[lt_dtype(dtype)] == (rtol, atol)
    wide = "complex128" if dtype in COMPLEX else "float64"
    for expected in (1.0, 100.0, -3.0):
        allowed = atol + rtol * abs(expected)
        eps = float(ml_dtypes.finfo(np_dtype(dtype)).eps) * abs(expected)
        near = lamella.tensor([expected + max(allowed - 2 * eps, 0)], dtype=lt_dtype(wide)).to(lt_dtype(dtype))
        far = lamella.tensor([expected + allowed * 1.01 + 2 * eps], dtype=lt_dtype(wide)).to(lt_dtype(dtype))
        want = lamella.tensor([expected], dtype=lt_dtype(dtype))
        assert_close(near, want)
        assert "Mismatched elements: 1 / 1 (100.0%)" in failure(far, want)


@pytest.mark.parametrize("dtype", ["bool", *INTEGERS])
def test_integers_must_be_equal(dtype):
    top = 1 if dtype == "bool" else np.iinfo(dtype).max
    a, b = (lamella.from_numpy(np.array([0, n], dtype)) for n in (top, top - 1))
    assert_close(a, a.clone())
    text = failure(a, b)
    assert text.startswith("Tensor-likes are not equal!") and "difference: 1 at index (1,)" in text


def test_words_of_a_failure():
    assert failure(lamella.tensor([[1.0, 2.0], [3.0, 4.0]]), lamella.tensor([[1.0, 2.5], [3.0, 2.0]])) == (
        "Tensor-likes are not close!\n\n"
        "Mismatched elements: 2 / 4 (50.0%)\n"
        "Greatest absolute difference: 2.0 at index (1, 1) (up to 1e-05 allowed)\n"
        "Greatest relative difference: 1.0 at index (1, 1) (up to 1.3e-06 allowed)"
    )
    assert failure(lamella.tensor(1.0), lamella.tensor(2.0), rtol=0, atol=0.5) == (
        "Scalars are not close!\n\nExpected 2.0 but got 1.0.\n"
        "Absolute difference: 1.0 (up to 0.5 allowed)\nRelative difference: 0.5 (up to 0 allowed)"
    )
    numbers = "Expected 2 but got 1.\nAbsolute difference: 1\nRelative difference: 0.5"
    assert failure(1, 2) == f"Scalars are not equal!\n\n{numbers}"


def test_only_mismatches_are_reported():
    """An allowed difference is not reported, even if it is the largest."""
    text = failure(lamella.tensor([1e6 + 0.5, 0.0]), lamella.tensor([1e6, 0.25]))
    assert "absolute difference: 0.25 at index (1,)" in text and "relative difference: 1.0 at index (1,)" in text


@pytest.mark.parametrize("special", [math.nan, math.inf, -math.inf])
def test_special_values(special):
    t, one = lamella.tensor([special, 1.0]), lamella.tensor([1.0, 1.0])
    if math.isnan(special):
        assert "nan at index (0,)" in failure(t, t.clone())
    else:
        assert_close(t, t.clone())
        failure(t, -t)
    assert_close(t, t.clone(), equal_nan=True)
    for pair in ((t, one), (one, t)):
        failure(*pair, equal_nan=True)
        failure(*pair, equal_nan=True, rtol=1e9, atol=1e9)


@pytest.mark.parametrize(
    "attribute, actual, expected",
    [
        ("shape", lamella.ones(3), lamella.ones(4)),
        ("shape", lamella.ones(3), lamella.ones(1)),
        ("dtype", lamella.ones(3), lamella.ones(3, dtype=lamella.float64)),
        ("device", lamella.ones(3), lamella.ones(3, device="meta")),
        ("stride", lamella.ones(2, 2), lamella.ones(2, 2).t()),
    ],
)
def test_attributes(attribute, actual, expected):
    option = {f"check_{attribute}": True} if attribute == "stride" else {}
    assert f"The values for attribute '{attribute}' do not match" in failure(actual, expected, **option)
    if attribute != "shape":
        assert_close(actual, expected, **{f"check_{attribute}": False})


def test_without_dtypes_the_looser_tolerance_holds():
    a, b = lamella.tensor([1.0], dtype=lamella.bfloat16), lamella.tensor([1.01], dtype=lamella.float64)
    assert_close(a, b, check_dtype=False)
    failure(a, lamella.tensor([1.1]), check_dtype=False)


def test_meta_is_compared_by_what_it_has():
    assert_close(lamella.empty(2, device="meta"), lamella.empty(2, device="meta"))
    failure(lamella.empty(2, device="meta"), lamella.empty(3, device="meta"))


@pytest.mark.parametrize(
    "actual, expected, text",
    [
        (None, 1, "None mismatch: None is not 1"),
        (True, False, "Booleans mismatch: True is not False"),
        (1.0, 1, "types do not match"),
        ([1], [1, 2], "The length of the sequences mismatch: 1 != 2"),
        ([1, [2, 3]], [1, [2, 4]], r"The failure occurred for item [1][1]"),
        ({"a": [1.0]}, {"a": [2.0]}, "The failure occurred for item ['a'][0]"),
        ({"a": 1}, {"b": 1}, "Missing keys in the actual mapping: ['b']\nAdditional keys in the actual mapping: ['a']"),
        (np.ones(2), np.zeros(2), "Greatest relative difference: inf at index (0,)"),
    ],
)
def test_other_inputs(actual, expected, text):
    assert text in failure(actual, expected)
    assert_close(expected, expected)


@pytest.mark.parametrize("pair", [("a", "a"), (lamella.ones(2), np.ones(2)), (lamella.ones(()), 1.0), (b"a", b"a")])
def test_what_is_not_compared(pair):
    with pytest.raises(TypeError, match="assert_close: .* are not compared"):
        assert_close(*pair)


def test_subclasses():
    class Sub(lamella.Tensor):
        pass

    t = lamella.ones(2)
    assert_close(Sub(t), t)
    with pytest.raises(TypeError):
        assert_close(Sub(t), t, allow_subclasses=False)


def test_messages_of_the_caller():
    t = lamella.ones(1)
    assert failure(t, t + 1, msg="mine") == "mine"
    assert failure(t, t + 1, msg=lambda ours: f"<{ours}>").startswith("<Tensor-likes are not close!")
    for given in ({"rtol": 1.0}, {"atol": 1.0}):
        with pytest.raises(ValueError, match="rtol.*atol"):
            assert_close(t, t, **given)


# ---- make_tensor -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("options", [{}, {"low": 1, "high": 2}, {"exclude_zero": True}, {"noncontiguous": True}])
def test_make_tensor(dtype, options):
    if dtype == "bool" and "low" in options:
        options = {"low": 0, "high": 1}
    t = make_tensor((40, 50), dtype=lt_dtype(dtype), device="cpu", **options)
    assert t.shape == (40, 50) and t.dtype is lt_dtype(dtype)
    assert t.is_contiguous() == ("noncontiguous" not in options)
    found = np.array(t.tolist())
    low, high = options.get("low", None), options.get("high", None)
    usual = {0: (0, 2), 1: (0 if dtype.startswith("u") else -9, 10), 2: (-9, 9), 3: (-9, 9)}[class_of(dtype)]
    low, high = usual[0] if low is None else low, usual[1] if high is None else high
    for part in (found.real, found.imag) if dtype in COMPLEX else (found * 1,):
        assert low <= part.min() and part.max() < high
        assert class_of(dtype) < 2 or part.std() > (high - low) / 4
    if "exclude_zero" in options:
        assert (found != 0).all()
    elif class_of(dtype) == 1 and "low" not in options:
        assert set(found.ravel()) == set(range(*usual))


def test_make_tensor_follows_the_seed():
    def make():
        lamella.manual_seed(3)
        return make_tensor(5, dtype=lamella.float32, device="cpu")

    assert make().tolist() == make().tolist()
    assert make_tensor(dtype=lamella.float32, device="cpu").shape == ()
    assert make_tensor(0, 3, dtype=lamella.float32, device="meta", noncontiguous=True).shape == (0, 3)


@pytest.mark.parametrize("limits", [(2, 1), (1, 1), (math.nan, 1), (-1, 1), (0, 257)])
def test_make_tensor_of_bad_limits(limits):
    with pytest.raises(ValueError, match="make_tensor: expected 0 <= low < high <= 256"):
        make_tensor(3, dtype=lamella.uint8, device="cpu", low=limits[0], high=limits[1])


# ---- allclose and equal ----------------------------------------------------------------------------------------------

VALUES = [0.0, -0.0, 1.0, 1.0 + 1e-6, 1.0 + 1e-4, -1.0, 1e-9, 1e30, math.inf, -math.inf, math.nan]


@pytest.mark.parametrize("equal_nan", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_allclose_of_every_pair(dtype, equal_nan):
    for x in VALUES:
        for y in VALUES:
            a, b = np.array([1.0, x], dtype), np.array([1.0, y], dtype)
            got = lamella.allclose(lamella.tensor(a), lamella.tensor(b), equal_nan=equal_nan)
            assert got is bool(np.allclose(a.astype("float64"), b.astype("float64"), equal_nan=equal_nan)), (x, y)


def test_allclose():
    t = lamella.ones(2, 3)
    assert t.allclose(lamella.ones(1)) is True and lamella.allclose(t, t + 0.5, atol=0.6, rtol=0) is True
    assert lamella.allclose(lamella.zeros(0), lamella.zeros(0)) is True
    three, four = (lamella.tensor([n], dtype=lamella.uint8) for n in (3, 4))
    assert lamella.allclose(three, four, atol=1) is True and lamella.allclose(three, four) is False
    with pytest.raises(RuntimeError, match="allclose: dtypes"):
        lamella.allclose(t, t.double())
    with pytest.raises(RuntimeError, match="allclose: argument 'atol'"):
        lamella.allclose(t, t, atol=-1.0)
    with pytest.raises(TypeError, match="allclose: argument 'other' must be Tensor"):
        lamella.allclose(t, 1.0)


def test_equal():
    t = lamella.tensor([1.0, math.inf])
    assert lamella.equal(t, t.clone()) is True and t.equal(t.double()) is True
    assert lamella.equal(t, t[:1]) is False and lamella.equal(t, -t) is False
    assert lamella.equal(lamella.zeros(0), lamella.zeros(0)) is True
    assert lamella.equal(lamella.ones(1), lamella.ones(1, 1)) is False
    nan = lamella.tensor([math.nan])
    assert lamella.equal(nan, nan) is False
    with pytest.raises(TypeError, match="equal: argument 'self' must be Tensor"):
        lamella.equal(1, t)


@pytest.mark.parametrize(
    "dtype, rtol, atol", [("float16", 1e-3, 1e-3), ("float32", 1e-4, 1e-5), ("float64", 1e-5, 1e-8)]
)
def test_the_older_comparison_has_wider_tolerances(dtype, rtol, atol):
    """The tolerances are those of torch.testing.assert_allclose."""
    a = lamella.tensor([4.0], dtype=lt_dtype(dtype))
    for factor in (0.5, 2):
        with pytest.warns(FutureWarning, match="assert_close"):
            if factor < 1:
                assert_allclose(a + factor * (atol + 4 * rtol), a)
            else:
                with pytest.raises(AssertionError, match="not close"):
                    assert_allclose(a + factor * (atol + 4 * rtol), a)


def test_the_older_comparison_takes_what_tensors_are_made_of():
    with pytest.warns(FutureWarning):
        assert_allclose([1.0, math.nan], [1, math.nan])
        assert_allclose(lamella.ones(2), lamella.ones(2, dtype=lamella.float64))
        assert_allclose(lamella.ones(2), lamella.ones(2) * 1.5, rtol=0.6, atol=0)
    with pytest.warns(FutureWarning), pytest.raises(AssertionError, match="mine"):
        assert_allclose(1, 2, msg="mine")
