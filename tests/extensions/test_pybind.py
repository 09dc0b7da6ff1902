"""pybind11 modules: casters, exceptions, registrations beside them, and the OpenCV extension of the overview talk."""

import gc
import importlib.machinery
import importlib.util
import re
import shutil
import subprocess
import sys
import sysconfig
import weakref
from pathlib import Path

import lamella
import numpy as np
import pybind11
import pytest
from compiled import compile_library
from native import include, library

OPENCV = Path("/usr/include/opencv4")


def module(factory, name, *flags):
    include = ("-I", sysconfig.get_path("include"), "-I", pybind11.get_include(), "-O0")
    source = Path(__file__).with_name(f"{name}.cpp")
    names = (f"-DLAMELLA_EXTENSION_NAME={name}", f"-DTORCH_EXTENSION_NAME={name}")
    path = compile_library(factory, source, *names, *include, *flags)
    loader = importlib.machinery.ExtensionFileLoader(name, str(path))
    found = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(found)
    return found


@pytest.fixture(scope="module")
def bound(tmp_path_factory):
    return module(tmp_path_factory, "casters", "-Wall", "-Wextra", "-Werror")


@pytest.fixture(scope="module")
def warped(tmp_path_factory):
    if not (OPENCV / "opencv2/imgproc.hpp").exists():
        pytest.skip("OpenCV is not installed: apt-get install libopencv-imgproc-dev")
    return module(tmp_path_factory, "warped", "-isystem", str(OPENCV), "-lopencv_imgproc", "-lopencv_core")


@pytest.mark.long
def test_tensors_come_and_go(bound):
    x = lamella.tensor([1.0, 2.0])
    assert bound.add(x, None) is x and bound.add(x, x).tolist() == [2, 4]
    assert bound.stacked([x, x]).tolist() == [[1, 2], [1, 2]]
    a, b = bound.made()
    assert (a.tolist(), b.tolist(), b.dtype) == ([0], [1, 1], lamella.int64)
    assert bound.nothing() is None
    assert bound.call(lambda t: t * 10, x).tolist() == [11, 21]


def test_lists_that_are_not_owned(bound):
    assert bound.total([1, 2, 3]) == bound.total((1, 2, 3)) == bound.total(lamella.Size([1, 5])) == 6
    assert bound.total([]) == 0 and bound.sizes(lamella.ones(2, 3)) == [2, 3]
    numbers = list(range(1000, 1500))
    assert bound.last(lamella.ones(500), numbers) == numbers and bound.last(lamella.ones(2, 3), None) == [2, 3]
    assert bound.joined([lamella.ones(1), lamella.zeros(2)]).tolist() == [1, 0, 0]
    for wrong in (["a"], [1.5], 3, None):
        with pytest.raises(TypeError, match=r"total\(\): incompatible function arguments"):
            bound.total(wrong)


def test_formats(bound):
    given = (lamella.channels_last, lamella.strided, None)
    assert bound.formats(*given) == given
    with pytest.raises(TypeError, match="lamella.memory_format"):
        bound.formats(lamella.strided, lamella.strided, None)


def test_the_rest(bound):
    x = lamella.tensor([1.5])
    y, before = bound.dtype(x, lamella.int32)
    assert (y.dtype, before) == (lamella.int32, lamella.float32)
    y, where = bound.device(x, lamella.device("meta"))
    assert (y.device.type, where) == ("meta", x.device)
    for number in (2, 2.5, True, 1 + 2j):
        y, back = bound.scaled(x, number)
        assert back == number and type(back) is type(number) and y.item() == 1.5 * number
    assert (
        bound.drawn(lamella.Generator().manual_seed(1)).tolist()
        == bound.drawn(lamella.Generator().manual_seed(1)).tolist()
    )


@pytest.mark.parametrize(
    ("what", "kind", "message"),
    [
        ("operator", RuntimeError, "do not broadcast"),
        ("index", IndexError, "an index"),
        ("value", ValueError, "a value"),
        ("type", TypeError, "a type"),
        ("undefined", TypeError, "t: argument 'self' must be Tensor"),
        ("std", IndexError, "of the standard library"),
        ("dim", IndexError, "5"),
    ],
)
def test_errors_are_the_right_exceptions(bound, what, kind, message):
    with pytest.raises(kind, match=message):
        bound.fail(what)


def test_wrong_arguments(bound):
    for call in (
        lambda: bound.add(1, None),
        lambda: bound.add(None, None),
        lambda: bound.stacked([1]),
        lambda: bound.dtype(lamella.ones(1), 3),
        lambda: bound.device(lamella.ones(1), 3),
        lambda: bound.scaled(lamella.ones(1), "many"),
        lambda: bound.drawn(3),
    ):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            call()


def test_an_exception_of_python_stays_itself(bound):
    class Mine(Exception):
        pass

    def fail(x):
        raise Mine("here")

    with pytest.raises(Mine, match="here"):
        bound.call(fail, lamella.ones(1))


@pytest.mark.long
def test_a_module_for_another_abi_is_not_imported(tmp_path):
    """Python opens the module without Lamella's loader, so the module itself raises the error."""
    headers = tmp_path / "headers"
    shutil.copytree(include(), headers)
    version = headers / "lamella/version.h"
    version.write_text(re.sub(r"(#define LAMELLA_ABI_MINOR) \d+", r"\1 55", version.read_text()))
    python = ("-I", sysconfig.get_path("include"), "-I", pybind11.get_include(), "-O0", "-std=c++17")
    text = '#include <lamella/pybind.h>\nPYBIND11_MODULE(newer, m) { m.attr("one") = 1; }\n'
    library(text, tmp_path / "newer.so", *python, headers=headers, compiler="g++")
    for before in ("", "import lamella; "):
        words = [sys.executable, "-c", before + "import newer"]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
        major, minor = lamella._C._abi_version
        has = f"lamella {lamella.__version__} has {major}.{minor}"
        assert f"ImportError: this module was built for C ABI {major}.55; {has}" in done.stderr
        assert done.returncode == 1


def test_its_own_operators_are_registered_with_it(bound):
    assert lamella.ops.bound.twice(lamella.ones(1)).tolist() == [2]


def test_nothing_leaks(bound):
    x = lamella.ones(3)
    seen = weakref.ref(x)
    bound.add(x, x), bound.stacked([x, x])
    with pytest.raises(RuntimeError):
        bound.fail("operator")
    del x
    gc.collect()
    assert seen() is None


def test_importing_it_brings_lamella(tmp_path_factory, bound):
    program = f"""
import importlib.machinery, importlib.util, sys
loader = importlib.machinery.ExtensionFileLoader("casters", {bound.__file__!r})
m = importlib.util.module_from_spec(importlib.util.spec_from_loader("casters", loader))
loader.exec_module(m)
print(m.nothing(), len(m.made()), "lamella" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "None 2 True\n", done.stderr
    hidden = "import sys; sys.modules['lamella'] = None" + program
    done = subprocess.run([sys.executable, "-c", hidden], capture_output=True, text=True)
    assert "ModuleNotFoundError" in done.stderr or "ImportError" in done.stderr


def bilinear_warp(image, matrix, size):
    """The oracle of cv::warpPerspective with defaults: bilinear between pixels, zeros outside, the matrix inverted."""
    inverse = np.linalg.inv(matrix.astype(np.float64))
    v, u = np.mgrid[:size, :size].astype(np.float64)
    x, y, w = np.einsum("ij,jkl->ikl", inverse, np.stack([u, v, np.ones_like(u)]))
    x, y = x / w, y / w
    # OpenCV rounds coordinates to 1/32 of a pixel.
    x, y = np.round(x * 32) / 32, np.round(y * 32) / 32
    padded = np.zeros((image.shape[0] + 2, image.shape[1] + 2))
    padded[1:-1, 1:-1] = image
    x0, y0 = np.floor(x).astype(int), np.floor(y).astype(int)
    fx, fy = x - x0, y - y0

    def pixel(j, i):
        return padded[np.clip(j + 1, 0, image.shape[0] + 1), np.clip(i + 1, 0, image.shape[1] + 1)]

    top = pixel(y0, x0) * (1 - fx) + pixel(y0, x0 + 1) * fx
    bottom = pixel(y0 + 1, x0) * (1 - fx) + pixel(y0 + 1, x0 + 1) * fx
    return top * (1 - fy) + bottom * fy


@pytest.mark.long
def test_the_extension_of_the_talk(warped):
    image = lamella.randn(128, 128, generator=lamella.Generator().manual_seed(0))
    matrix = np.array([[0.6, 0.05, 3.0], [-0.04, 0.55, 5.0], [1e-4, 2e-4, 1.0]], dtype=np.float32)
    output = warped.compute(image, lamella.tensor(matrix))
    assert output.shape == (64, 64) and output.dtype == lamella.float32
    expected = bilinear_warp(image.numpy(), matrix, 64)
    wrong = np.abs(output.numpy() - expected) > 1e-3
    assert wrong.mean() < 0.01  # a coordinate in the middle of two 32nds may be rounded to either
    assert np.abs(output.numpy() - expected).max() < 0.3
    assert lamella.equal(output, warped.compute(image, lamella.tensor(matrix)))


def test_the_extension_of_the_talk_checks_its_dtype(warped):
    with pytest.raises(TypeError, match="the elements are float64, not float32"):
        warped.compute(lamella.ones(4, 4, dtype=lamella.float64), lamella.eye(3))
    with pytest.raises(IndexError, match="out of range"):
        warped.compute(lamella.ones(4), lamella.eye(3))
