"""The extension of the overview talk, in the talk's own forms: by setuptools, and by ``load``."""

import shutil
import sys
from pathlib import Path

import pytest
from children import run

SOURCE = Path(__file__).with_name("warped.cpp")
OPENCV = Path("/usr/include/opencv4")
SETUP = f"""
from setuptools import setup
from lamella.utils.cpp_extension \\
    import BuildExtension, CppExtension

setup(
    name='extension',
    ext_modules=[CppExtension(
        name='extension',
        sources='extension.cpp',
        include_dirs=['{OPENCV}'],
        libraries=['opencv_imgproc', 'opencv_core'],
        extra_compile_args=['-O0'],
    )],
    cmdclass=dict(build_ext=BuildExtension) )
"""
LOAD = f"""
import lamella.utils.cpp_extension

module = lamella.utils.cpp_extension.load(
    name='extension',
    sources='extension.cpp',
    extra_include_paths='{OPENCV}',
    extra_ldflags=['-lopencv_imgproc', '-lopencv_core'],
    extra_cflags='-O0',
)
"""
USE = """
import lamella
image = lamella.randn(128, 128)
warp = lamella.eye(3)
output = module.compute(image, warp)
print(tuple(output.shape), lamella.equal(output, image[:64, :64]))
"""


@pytest.fixture
def folder(bench):
    if not (OPENCV / "opencv2/imgproc.hpp").exists():
        pytest.skip("OpenCV is not installed: apt-get install libopencv-imgproc-dev")
    shutil.copy(SOURCE, bench.folder / "extension.cpp")
    return bench.folder


@pytest.mark.long
def test_by_load(bench, folder):
    assert bench.run(LOAD + USE).strip() == "(64, 64) True"


@pytest.mark.long
def test_by_setuptools(folder):
    (folder / "setup.py").write_text(SETUP)
    run(sys.executable, "setup.py", "-q", "build_ext", "--inplace", cwd=folder)
    program = "import extension as module\n" + USE
    assert run(sys.executable, "-c", program, cwd=folder).strip() == "(64, 64) True"
