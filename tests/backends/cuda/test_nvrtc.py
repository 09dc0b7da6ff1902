"""Kernel texts that the tests have compiled are compiled by NVIDIA's NVRTC to machine code, for sm_80 and sm_90: each
day another third of them for one of the two, with ``LAMELLA_SWEEP=all`` all for both."""

import datetime
import os
import platform
from pathlib import Path

import pytest
from nvrtc import Compiler, Recorded, find_library, texts_of, together
from standins import on_standin

ROOT = Path(__file__).resolve().parents[3]
LIBRARY = find_library()
pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the wheel nvidia-cuda-nvrtc is for x86-64")

# One launch of each kind of kernel and, of the pointwise ones, of every operator that takes one tensor and no more.
PROGRAM = """
    import lamella
    real = lamella.rand(300, 4, device="cuda") / 2 + 0.25
    kinds = (real, real.to(lamella.bfloat16), real.to(lamella.complex64), (real * 9).to(lamella.int32), real > 0.5)
    for x in kinds:
        for name in ("abs neg exp log sin tanh sqrt square reciprocal erf lgamma logical_not bitwise_not sign").split():
            try:
                getattr(lamella, name)(x)
            except (RuntimeError, NotImplementedError):
                continue
        x + x, x * 2, x.t() == x.t(), x.sum(), x.any(0), x.clone()
        if x.dtype != lamella.bool:
            x.cumsum(0), x.prod(1)
    f = kinds[0]
    f.var(), f.amax(0), f.max(1), f.argmin(), f.logsumexp(1), f.mean(1), f @ f.t(), f.softmax(1), f.sort(0), f[f > 0.4]
    kinds[3] // 2, kinds[3] % 3, f.double().std(0)
    lamella.randn(5, device="cuda"), lamella.randint(9, (5,), device="cuda")
    lamella.nn.functional.layer_norm(f, (4,)), f.gather(0, kinds[3].long() % 4), lamella.arange(3, device="cuda")
"""


def compiler():
    assert LIBRARY, "nvidia-cuda-nvrtc is not installed, which the extra 'test' names"
    return Compiler(LIBRARY, texts_of(ROOT))


def test_all_kernels_compile_to_machine_code(tmp_path_factory, standin):
    on_standin(tmp_path_factory, LAMELLA_CUDA_CACHE=str(tmp_path_factory.mktemp("kernels"))).run(PROGRAM, timeout=300)
    programs = [Recorded.read(p) for p in sorted((standin / "record").glob("*.cu"))]
    assert len(programs) > 60
    whole = os.environ.get("LAMELLA_SWEEP") == "all"
    if not whole:  # today's third of them, each for one of the architectures
        programs = programs[datetime.date.today().toordinal() % 3 :: 3]
    architectures = ("sm_80", "sm_90")
    nvrtc, wrong, even = compiler(), [], datetime.date.today().toordinal() % 2
    for i, (program, _) in enumerate(together(programs)):
        for arch in architectures if whole else architectures[(i + even) % 2 :][:1]:
            code, log = nvrtc.compile(program, arch)
            if not code:
                wrong.append(f"{program.file} {program.names[:3]} for {arch}:\n{log[:2000]}")
            else:
                assert code[:4] == b"\x7fELF"
    assert not wrong, "\n".join(wrong)


def test_a_text_that_is_wrong_is_reported():
    """C++ that g++ takes, and CUDA's compiler does not: a function of the host."""
    text = "__host__ int here() { return 1; }\n__global__ void planted(int* x) {\n  *x = here();\n}\n"
    code, log = compiler().compile(Recorded("planted.cu", ("planted",), (), text), "sm_80")
    assert not code and "__host__" in log
    whole = Recorded("planted.cu", ("planted",), (), text.replace("__host__", "__device__"))
    assert compiler().compile(whole, "sm_80")[0]
