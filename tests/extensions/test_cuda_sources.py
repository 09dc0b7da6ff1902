"""CUDA sources, compiled without a GPU by the nvcc of the machine or of PyPI, and errors if a part is missing."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from building import operator
from children import run

KERNEL = """
#include <cuda_runtime.h>
#include <lamella/c_api.h>
__global__ void doubled(float* p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] *= 2;
}
__attribute__((visibility("default"))) int launch(float* p, int n) {
  doubled<<<(n + 255) / 256, 256>>>(p, n);
  return cudaGetLastError() == cudaSuccess;
}
"""


def toolkits():
    """Returns the installed nvcc programs: name and path."""
    found = {}
    if nvcc := shutil.which("nvcc"):
        found["machine"] = nvcc
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for nvcc in Path(folder).glob("*/bin/nvcc"):
            found["PyPI"] = str(nvcc)
    return found


@pytest.fixture(params=["machine", "PyPI"])
def home(request):
    """Returns CUDA_HOME for one nvcc."""
    nvcc = toolkits().get(request.param)
    if nvcc is None:
        pytest.skip(f"no nvcc of {request.param}: pip install nvidia-cuda-nvcc, which the extra 'test' names")
    plan = subprocess.run([nvcc, "--dryrun", "-x", "cu", "-c", os.devnull], capture_output=True, text=True).stderr
    return os.path.realpath(next(line.split("TOP=")[1] for line in plan.splitlines() if "TOP=" in line))


def test_cuda_and_cpp_sources_make_one_library(bench, home):
    source = "int launch(float*, int);" + operator("launch(nullptr, 0) * 0 + 1")
    (bench.folder / "mine.cpp").write_text(source)
    (bench.folder / "kernel.cu").write_text(KERNEL)
    program = """
    import lamella
    from lamella.utils.cpp_extension import load
    print(load("mine", ["mine.cpp", "kernel.cu"]).scaled(lamella.tensor([1, 2])).tolist())
    """
    assert bench.run(program, CUDA_HOME=home).strip() == "[2, 4]"  # without a GPU only the launch fails
    [library] = bench.files("libraries/*/mine.so")
    assert b"nv_fatbin" in library.read_bytes()
    before = library.stat().st_mtime_ns
    assert bench.run(program, CUDA_HOME=home).strip() == "[2, 4]"
    assert library.stat().st_mtime_ns == before


def test_cuda_sources_in_a_package(bench, home):
    source = "int launch(float*, int);" + operator("launch(nullptr, 0) * 0 + 1")
    (bench.folder / "mine.cpp").write_text(source)
    (bench.folder / "kernel.cu").write_text(KERNEL)
    (bench.folder / "setup.py").write_text("""
from lamella.utils.cpp_extension import BuildExtension, CUDAExtension
from setuptools import setup

flags = {"cxx": ["-O1"], "nvcc": ["-lineinfo"]}
module = CUDAExtension("mine", ["mine.cpp", "kernel.cu"], extra_compile_args=flags)
setup(name="mine", ext_modules=[module], cmdclass={"build_ext": BuildExtension})
""")
    run(sys.executable, "setup.py", "-q", "build_ext", "--inplace", cwd=bench.folder, CUDA_HOME=home)
    assert b"nv_fatbin" in (bench.folder / "mine.so").read_bytes()
    program = """
    import lamella
    lamella._C._load_plugin("./mine.so")
    print(lamella.ops.built.scaled(lamella.tensor([1, 2])).tolist())
    """
    assert bench.run(program).strip() == "[2, 4]"


def test_a_failed_kernel_names_the_line(bench, home):
    program = """
    from lamella.utils.cpp_extension import load_inline
    load_inline("mine", "", cuda_sources="__global__ void k(float* p) { p[0] = missing; }", is_python_module=False)
    """
    text = bench.fails(program, CUDA_HOME=home)
    assert "CompileError: mine.cu does not compile: " in text and 'identifier "missing" is undefined' in text


def test_a_host_compiler_that_nvcc_refuses(bench, home):
    """A script imitates nvcc's message, since g++ itself cannot be made to look too new."""
    copy = bench.folder / "cuda"
    (copy / "bin").mkdir(parents=True)
    refusal = "host_config.h:139:2: error: #error -- unsupported GNU version! gcc versions later than 15"
    nvcc = copy / "bin/nvcc"
    nvcc.write_text(f'#!/bin/sh\ncase "$*" in *kernel*) echo "{refusal}"; exit 1; esac\nexec {home}/bin/nvcc "$@"\n')
    nvcc.chmod(0o755)
    (bench.folder / "kernel.cu").write_text("__global__ void k() {}\n")
    program = """
    from lamella.utils.cpp_extension import load
    load("mine", "kernel.cu", is_python_module=False)
    """
    text = bench.fails(program, CUDA_HOME=str(copy))
    assert "CompileError: kernel.cu does not compile (set CXX to a g++ that this nvcc takes" in text
    assert f"): {refusal}" in text


def test_without_nvcc_it_says_what_to_install(bench):
    program = """
    import importlib.util, os, lamella
    os.environ["PATH"] = "/usr/bin:/bin"
    find = importlib.util.find_spec
    importlib.util.find_spec = lambda name, *rest: None if name == "nvidia" else find(name, *rest)
    from lamella.utils.cpp_extension import load_inline
    load_inline("mine", "", cuda_sources="__global__ void k() {}", is_python_module=False)
    """
    text = bench.fails(program)
    assert "MissingTool: CUDA sources need nvcc" in text and "pip install nvidia-cuda-nvcc" in text
    text = bench.fails(program, CUDA_HOME="/nonesuch")
    assert "MissingTool: CUDA_HOME is /nonesuch, and there is no nvcc in its bin" in text


def test_a_part_that_is_missing_is_named(bench, home):
    """Makes a copy of the toolkit without the compiler's back end."""
    copy = bench.folder / "cuda"
    (copy / "bin").mkdir(parents=True)
    for tool in (Path(home) / "bin").iterdir():
        if tool.name in ("nvcc", "nvcc.profile"):
            shutil.copy(tool, copy / "bin")
    (copy / "include").symlink_to(Path(home) / "include")
    program = """
    from lamella.utils.cpp_extension import load_inline
    load_inline("mine", "", cuda_sources="__global__ void k() {}", is_python_module=False)
    """
    text = bench.fails(program, CUDA_HOME=str(copy))
    assert "MissingTool" in text and "nvvm/bin/cicc" in text and "pip install nvidia-nvvm" in text
