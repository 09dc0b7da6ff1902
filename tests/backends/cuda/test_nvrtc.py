"""NVIDIA's NVRTC compiles the kernel texts of the tests to machine code for sm_80 and sm_90, and for launches that the
tests have made there are enough registers and shared memory. With ``LAMELLA_SWEEP=turn`` each day another tenth of the
texts is compiled, for one of the two."""

import platform
from pathlib import Path

import pytest
from nvrtc import Compiler, Launch, Recorded, Resources, find_library, launches, texts_of, together
from shares import in_turn, share, today
from standins import on_standin

ROOT = Path(__file__).resolve().parents[3]
LIBRARY = find_library()
pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the wheel nvidia-cuda-nvrtc is for x86-64")

# PROGRAM launches each kind of kernel once, and of the pointwise ones those of many operators of one tensor.
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
    attend = lamella.nn.functional.scaled_dot_product_attention
    for dtype in (lamella.float32, lamella.bfloat16):
        q = lamella.rand(1, 1, 9, 16, device="cuda").to(dtype).requires_grad_()
        for more in ({}, {"attn_mask": lamella.rand(9, 9, device="cuda") > 0.2}, {"dropout_p": 0.5}):
            attend(q, q, q, **more).sum().backward()
    lamella.randn(5, device="cuda"), lamella.randint(9, (5,), device="cuda")
    lamella.nn.functional.layer_norm(f, (4,)), f.gather(0, kinds[3].long() % 4), lamella.arange(3, device="cuda")
"""

# MATRICES launches the kernels that stand before and behind calls of cuSOLVER.
MATRICES = """
    import lamella
    la = lamella.linalg
    for kind in (lamella.float32, lamella.complex128):
        a = lamella.rand(3, 5, 4, dtype=lamella.float64, device="cuda").to(kind)
        p = a @ a.mH + lamella.eye(5, dtype=kind, device="cuda")
        la.qr(a), la.svd(a), la.svd(a[0, :, :0]), la.eig(p), la.eigh(p), la.cholesky(p)
        la.lu_factor(p, pivot=False), la.solve(p[0], p[0]), la.solve(p, p, left=False)
        la.lu_solve(*la.lu_factor(p), p, left=False, adjoint=True), la.ldl_solve(*la.ldl_factor(p + p.mT), p)
        la.lstsq(a.mT, a[:, :4], driver="gels")
    assert lamella.fallback_counts() == []
"""


def compiler():
    assert LIBRARY, "nvidia-cuda-nvrtc is not installed, which the extra 'test' names"
    return Compiler(LIBRARY, texts_of(ROOT))


@pytest.mark.long
def test_all_kernels_compile_to_machine_code(tmp_path_factory, standin):
    on_standin(tmp_path_factory).run(PROGRAM, timeout=300)
    on_standin(tmp_path_factory, "blas", "solver").run(MATRICES, timeout=300)
    programs = [Recorded.read(p) for p in sorted((standin / "record").glob("*.cu"))]
    programs = [p for p in programs if p.file != "code.cu"]  # texts of other libraries, one of which does not compile
    assert len(programs) > 60
    programs = share(programs, parts=10)
    architectures = ("sm_80", "sm_90")
    nvrtc, wrong, even = compiler(), [], today() % 2
    launched = launches(standin / "record")
    for i, (program, members) in enumerate(together(programs)):
        for arch in architectures[(i + even) % 2 :][:1] if in_turn() else architectures:
            made = nvrtc.compile(program, arch)
            if not made.code:
                wrong.append(f"{program.file} {program.names[:3]} for {arch}:\n{made.log[:2000]}")
                continue
            assert made.code[:4] == b"\x7fELF"
            own_names = [name for member in members for name in member.names]
            for name, own_name in zip(program.names, own_names, strict=True):
                asked = launched[own_name]
                wrong += [f"{own_name} of {program.file} was not launched"] if not asked else []
                refusals = {r for launch in asked for r in made.resources[name].refusals(launch)}
                wrong += [f"{program.file} {own_name} for {arch}: {r}" for r in sorted(refusals)]
    assert not wrong, "\n".join(wrong)


def test_a_text_that_is_wrong_is_reported():
    """A call of a function of the host, which g++ accepts and CUDA's compiler does not."""
    text = "__host__ int here() { return 1; }\n__global__ void planted(int* x) {\n  *x = here();\n}\n"
    made = compiler().compile(Recorded("planted.cu", ("planted",), (), text), "sm_80")
    assert not made.code and "__host__" in made.log
    whole = Recorded("planted.cu", ("planted",), (), text.replace("__host__", "__device__"))
    assert compiler().compile(whole, "sm_80").code


def test_a_launch_that_devices_refuse_is_reported():
    """A kernel of 20 KB of shared memory, and one of 255 registers, in blocks that are too large for them."""
    text = """
    __global__ void planted(float* x) {
      __shared__ float room[5000];
      room[threadIdx.x] = x[threadIdx.x];
      __syncthreads();
      x[0] = room[threadIdx.x ^ 1];
    }
    __global__ void __launch_bounds__(256) wide(float* x, int n) {
      float sums[160] = {};
      for (int k = 0; k < n; k++)
    #pragma unroll
        for (int i = 0; i < 160; i++) sums[i] = sums[i] * x[k] + x[i + k];
    #pragma unroll
      for (int i = 0; i < 160; i++) x[i] = sums[i];
    }
    """
    found = compiler().compile(Recorded("planted.cu", ("planted", "wide"), (), text), "sm_80").resources
    planted, wide, room = found["planted"], found["wide"], 163 << 10
    assert planted.shared == 20000 and planted.threads == 1024 and wide.registers > 128 and wide.threads == 256
    assert not planted.refusals(Launch(1024, 29000, room)) and not wide.refusals(Launch(256, 0, room))
    assert "20000 and 30000 bytes" in planted.refusals(Launch(1024, 30000, room))[0]
    assert "20000 and 150000 bytes" in planted.refusals(Launch(1024, 150000, room))[0]
    assert "288 threads are more" in wide.refusals(Launch(288, 0, room))[-1]
    assert "1024 threads of" in wide.refusals(Launch(1024, 0, room))[0]
    assert not Resources(64, 0, 1024).refusals(Launch(1024, 0, room))
    assert Resources(65, 0, 1024).refusals(Launch(1024, 0, room))
    assert Resources(200, 0, 1024).refusals(Launch(288, 0, room))
