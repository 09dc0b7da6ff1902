"""The kernel for the category pointwise that docs/write_a_backend.md shows, on the device of that page."""

import re

import lamella
import numpy as np
import pytest
from lamella.utils.cpp_extension import load_inline
from pages import ROOT, blocks

PAGE = "docs/write_a_backend.md"
A = np.arange(1, 13, dtype=np.float32).reshape(3, 4) / 4
B = A.T.copy() - 1


@pytest.fixture(scope="module", autouse=True)
def device():
    """Builds the page's device with the page's kernel, under a name that no other test uses."""
    [device] = blocks(PAGE, "cpp")
    [kernel] = re.findall(
        r"^```c\+\+\n// pointwise.cpp\n(.*?)^```", (ROOT / PAGE).read_text(), re.MULTILINE | re.DOTALL
    )
    load_inline("pointwise_page", (device + kernel).replace("yours", "woven"))


def there(array):
    return lamella.tensor(array, device="woven")


CALLS = {
    "a tensor and a number": (lambda: there(A) * 2.5, lambda: A * np.float32(2.5)),
    "a turned operand": (lambda: there(A) - there(B).t(), lambda: A - B.T),
    "rows and columns": (lambda: there(A[:, :1]) + there(A[0]), lambda: A[:, :1] + A[0]),
    "a step": (lambda: there(A)[:, ::2].sqrt(), lambda: np.sqrt(A[:, ::2])),
    "a parameter": (lambda: lamella.add(there(A), there(A), alpha=3), lambda: A + 3 * A),
    "a parameter that is absent": (lambda: there(A).clamp(max=2), lambda: np.minimum(A, 2)),
    "a condition": (lambda: lamella.where(there(A) > 1, there(A), -1.0), lambda: np.where(A > 1, A, -1)),
    "bools": (lambda: there(A).lt(2) | there(A).gt(2.5), lambda: (A < 2) | (A > 2.5)),
    "integers that become floats": (lambda: there([1, 4, 9]).sqrt(), lambda: np.float32([1, 2, 3])),
    "parts of complex numbers": (lambda: there([3 + 4j, 5 - 12j]).abs(), lambda: np.float32([5, 13])),
    "an element": (lambda: there(2.0) + 1, lambda: np.float32(3)),
    "nothing": (lambda: there(np.zeros((0, 3), np.float32)) / 2, lambda: np.zeros((0, 3), np.float32)),
}


@pytest.mark.parametrize("name", CALLS)
def test_values(name):
    call, expected = CALLS[name]
    lamella.reset_fallback_counts()
    result, wanted = call(), np.asarray(expected())
    assert result.device.type == "woven"
    assert not [c for c in lamella.fallback_counts() if c.operator != "aten::copy_"]
    got = result.to("cpu").numpy()
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    np.testing.assert_allclose(got, wanted, rtol=1e-6)


def test_in_place_and_into_a_target_with_strides():
    x, wide = there(A), lamella.zeros(3, 8).to("woven")
    lamella.mul(x, 2, out=wide[:, ::2])
    np.testing.assert_array_equal(wide.to("cpu").numpy()[:, ::2], A * 2)
    assert not wide.to("cpu")[:, 1::2].any()
    view = x.t()
    view.neg_()
    np.testing.assert_array_equal(x.to("cpu").numpy(), -A)


def test_what_it_declines_and_what_fails():
    lamella.reset_fallback_counts()
    assert (there(A).half() + 1).to("cpu").tolist() == (A + 1).tolist()
    assert "aten::add.Scalar" in [c.operator for c in lamella.fallback_counts()]
    with pytest.raises(RuntimeError, match="floor_divide: argument 'other': integer division by zero"):
        there([1, 2]) // 0


def test_an_operator_of_another_package():
    load_inline(
        "pointwise_page_guest",
        """
        #include <lamella/pointwise.h>
        using namespace lamella::pointwise;
        struct halfway : Pointwise<2, FLOAT> {
          static constexpr Signature signatures[] = {{"halfway(Tensor self, Tensor other) -> Tensor", ALL_FORMS, ""}};
          template <class T> static T apply(T x, T y) { return (x + y) / number<T>(2); }
        };
        LAMELLA_LIBRARY(pointwise_page_guest, m) { lamella::define_pointwise<halfway>(m); }
        """,
    )
    got = lamella.ops.pointwise_page_guest.halfway(there(A), there(A[0]))
    np.testing.assert_array_equal(got.to("cpu").numpy(), (A + A[0]) / 2)
