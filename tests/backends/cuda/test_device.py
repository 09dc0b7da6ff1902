"""Tests that need a GPU: CuPy, torch and numba on the same memory, sizes past 2^31 elements, examples that learn.

The programs of ``test_cuda.py`` and ``test_promises.py`` also run on the GPU if there is one.
"""

import gc
import os
import subprocess
import sys
from pathlib import Path

import lamella
import pytest
from children import run
from standins import HERE, guest, has_gpu

pytestmark = pytest.mark.skipif(not has_gpu(), reason="there is no GPU")

MODELS = HERE.parents[2] / "examples/models"
MANY = 2**31 + 1000


def busy(stream, microseconds=50000):
    """Keeps a stream busy, so that work which is queued after it runs late."""
    with stream:
        lamella.ops.cuda.delay(lamella.empty(1, device="cuda"), microseconds)


@pytest.fixture
def x():
    """A tensor whose kernels are compiled, so that time can be measured."""
    made = lamella.arange(12.0, device="cuda").reshape(3, 4)
    lamella.ops.cuda.delay(made, 1)
    made.clone().fill_(0).add_(1).sum().item()
    return made


# ---- CuPy, torch, numba ----------------------------------------------------------------------------------------------


def test_cupy_reads_tensors(x):
    cupy = pytest.importorskip("cupy")
    for t in (x, x.t(), x[1:, ::2]):
        for made in (cupy.asarray(t), cupy.from_dlpack(t)):
            assert made.data.ptr == t.data_ptr() and made.shape == tuple(t.shape)
            assert made.strides == tuple(4 * s for s in t.stride()) and made.dtype == "float32"
            assert cupy.asnumpy(made).tolist() == t.tolist()
            made += 1
            cupy.cuda.get_current_stream().synchronize()
            assert cupy.asnumpy(made).tolist() == t.tolist()
    assert lamella.from_dlpack(cupy.from_dlpack(x)).data_ptr() == x.data_ptr()


def test_arrays_of_cupy_are_read():
    cupy = pytest.importorskip("cupy")
    a = cupy.arange(12, dtype="float32").reshape(3, 4)
    for array in (a, a.T, a[1:, ::2]):
        for t in (lamella.from_dlpack(array), lamella.as_tensor(array), lamella.asarray(array, copy=False)):
            assert t.data_ptr() == array.data.ptr and t.device.type == "cuda"
            assert t.tolist() == cupy.asnumpy(array).tolist()
            t.add_(1)
            lamella.cuda.synchronize()
            assert t.tolist() == cupy.asnumpy(array).tolist()
    with pytest.raises(BufferError, match="negative stride"):
        lamella.as_tensor(a[::-1])


def test_torch_reads_tensors(x):
    torch = pytest.importorskip("torch")
    for t in (x, x.t(), x[1:, ::2]):
        for made in (torch.from_dlpack(t), torch.as_tensor(t, device="cuda")):
            assert made.data_ptr() == t.data_ptr() and made.stride() == t.stride()
            assert made.tolist() == t.tolist()
            made.add_(1)
            torch.cuda.synchronize()
            assert made.tolist() == t.tolist()
    narrow = x.to(lamella.bfloat16)
    assert torch.from_dlpack(narrow).dtype == torch.bfloat16 and torch.from_dlpack(narrow).tolist() == narrow.tolist()


def test_tensors_of_torch_are_read():
    torch = pytest.importorskip("torch")
    a = torch.arange(12.0, device="cuda").reshape(3, 4)
    for array in (a, a.t(), a[1:, ::2]):
        for t in (lamella.from_dlpack(array), lamella.as_tensor(array), lamella.asarray(array, copy=False)):
            assert t.data_ptr() == array.data_ptr() and t.stride() == array.stride() and t.device.type == "cuda"
            t.add_(1)
            lamella.cuda.synchronize()
            assert t.tolist() == array.tolist()
    assert lamella.from_dlpack(a.to(torch.bfloat16)).dtype == lamella.bfloat16
    assert lamella.as_tensor(torch.ones(2)).device.type == "cpu"
    with pytest.raises(RuntimeError):
        lamella.as_tensor(a.clone().requires_grad_())


def test_numba_and_tensors_share_memory(x):
    cuda = pytest.importorskip("numba.cuda")
    made = cuda.as_cuda_array(x)
    assert made.__cuda_array_interface__["data"][0] == x.data_ptr()
    assert made.copy_to_host().tolist() == x.tolist()
    x.add_(1)
    assert made.copy_to_host().tolist() == x.tolist()
    array = cuda.to_device(x.cpu().numpy())
    t = lamella.as_tensor(array)
    assert t.data_ptr() == array.__cuda_array_interface__["data"][0] and t.tolist() == x.tolist()
    t.add_(1)
    lamella.cuda.synchronize()
    assert array.copy_to_host().tolist() == t.tolist()


# ---- order and lifetime between libraries ----------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["dlpack", "interface"])
def test_cupy_reads_behind_the_stream_of_a_tensor(x, way):
    cupy = pytest.importorskip("cupy")
    cupy.asarray(x).sum()
    side, reader = lamella.cuda.Stream(), cupy.cuda.Stream(non_blocking=True)
    for _ in range(3):
        x.fill_(0)
        lamella.cuda.synchronize()
        busy(side)
        with side, reader:
            x.fill_(5)
            made = cupy.from_dlpack(x) if way == "dlpack" else cupy.asarray(x)
            total = made.sum()
            assert float(total) == 60


@pytest.mark.parametrize("way", ["dlpack", "interface"])
def test_a_tensor_is_read_behind_the_stream_of_cupy(x, way):
    cupy = pytest.importorskip("cupy")
    text = 'extern "C" __global__ void spin(long long n) { long long at = clock64(); while (clock64() - at < n); }'
    spin, a = cupy.RawKernel(text, "spin"), cupy.zeros(12, "float32")
    spin((1,), (1,), (cupy.int64(1),))
    a.fill(0)
    cupy.cuda.Device().synchronize()
    source = cupy.cuda.Stream(non_blocking=True)
    with source, lamella.cuda.Stream():
        spin((1,), (1,), (cupy.int64(10**8),))
        a.fill(7)
        t = lamella.from_dlpack(a) if way == "dlpack" else lamella.as_tensor(a)
        assert (t + 0).tolist() == [7.0] * 12


@pytest.mark.parametrize("way", ["dlpack", "interface"])
def test_torch_and_tensors_wait_for_each_other(x, way):
    torch = pytest.importorskip("torch")
    a = torch.zeros(12, device="cuda")
    (a + 0).fill_(1)
    torch.cuda.synchronize()
    theirs, ours = torch.cuda.Stream(), lamella.cuda.Stream()
    with torch.cuda.stream(theirs), ours:
        torch.cuda._sleep(10**8)
        a.fill_(7)
        t = lamella.from_dlpack(a) if way == "dlpack" else lamella.as_tensor(a)
        if way == "interface":  # torch's interface names no stream, so its reader must wait
            torch.cuda.synchronize()
        assert (t + 0).tolist() == [7.0] * 12
        busy(ours)
        x.fill_(5)
        made = torch.from_dlpack(x)
        assert float(made.sum()) == 60


def test_memory_lives_as_long_as_a_reader():
    torch, cupy = pytest.importorskip("torch"), pytest.importorskip("cupy")
    for read in (torch.from_dlpack, lambda t: torch.as_tensor(t, device="cuda"), cupy.from_dlpack, cupy.asarray):
        gc.collect()
        before = lamella.cuda.memory_allocated()
        x = lamella.full((1000,), 3.0, device="cuda")
        made = read(x)
        place = x.data_ptr()
        del x
        gc.collect()
        others = [lamella.full((1000,), 9.0, device="cuda") for _ in range(4)]
        assert place not in [o.data_ptr() for o in others] and made.tolist() == [3.0] * 1000
        del made, others
        gc.collect()
        assert lamella.cuda.memory_allocated() == before
    for make in (lambda: torch.full((1000,), 3.0, device="cuda"), lambda: cupy.full(1000, 3.0, "float32")):
        for read in (lamella.from_dlpack, lamella.as_tensor):
            t = read(make())
            gc.collect()
            others = [make() * 3 for _ in range(4)]
            assert t.tolist() == [3.0] * 1000 and len(others) == 4


def test_pools_give_memory_to_each_other(x):
    """After empty_cache another library can take the memory that this one had."""
    torch = pytest.importorskip("torch")
    total = lamella.cuda.get_device_properties().total_memory
    big = lamella.empty(total // 2, dtype=lamella.uint8, device="cuda")
    del big
    lamella.cuda.empty_cache()
    theirs = torch.empty(total // 2, dtype=torch.uint8, device="cuda")
    del theirs
    torch.cuda.empty_cache()
    lamella.empty(total // 2, dtype=lamella.uint8, device="cuda").fill_(1)
    lamella.cuda.empty_cache()


# ---- memory ----------------------------------------------------------------------------------------------------------


def test_out_of_memory_names_the_largest_tensors():
    gc.collect()
    lamella.cuda.empty_cache()
    total = lamella.cuda.get_device_properties().total_memory
    held = lamella.empty(total // 2, dtype=lamella.uint8, device="cuda")
    with pytest.raises(lamella.OutOfMemoryError) as caught:
        lamella.empty(total // 4 * 3, dtype=lamella.uint8, device="cuda")
    assert str(total // 2) in str(caught.value) and str(total // 4 * 3) in str(caught.value)
    del caught
    assert lamella.ones(10, device="cuda").sum().item() == 10
    del held
    gc.collect()
    lamella.empty(total // 4 * 3, dtype=lamella.uint8, device="cuda")[-1:].fill_(1)
    lamella.cuda.empty_cache()


# ---- sizes past 2^31 elements ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def many():
    """Numbers below 100, in MANY elements of one byte."""
    part = lamella.arange(1 << 20, device="cuda").remainder(100).to(lamella.int8)
    yield lamella.cat([part.repeat(2048), part[:1000]])
    lamella.cuda.empty_cache()


def ends(t, wanted):
    """Compares the first elements, those around 2^31, and the last ones."""
    for at in (0, 2**31 - 500, MANY - 500):
        numbers = (lamella.arange(at, at + 500) % (1 << 20)) % 100
        assert t[at : at + 500].cpu().tolist() == [wanted(n) for n in numbers.tolist()]


def test_many_elements_pointwise(many):
    assert many.numel() == MANY
    ends(many, lambda n: n)
    ends(many + many[:1], lambda n: n)
    ends(many.clone().add_(1).mul_(1), lambda n: n + 1)
    ends((many > 50).to(lamella.uint8), lambda n: n > 50)
    ends(many.to(lamella.float16), float)
    filled = lamella.empty_like(many).fill_(3)
    ends(filled, lambda n: 3)
    filled[2:].copy_(many[2:])
    assert bool((filled[2:] == many[2:]).all())


def test_many_elements_reduced(many):
    whole = sum(n % 100 for n in range(1 << 20)) * 2048 + sum(n % 100 for n in range(1000))
    assert many.sum().item() == whole
    assert many.amax().item() == 99
    changed = many.clone()
    changed[-1] = 101
    assert changed.argmax().item() == MANY - 1
    assert (changed != many).nonzero().tolist() == [[MANY - 1]]


def test_many_elements_strided_and_indexed(many):
    pairs = many[: MANY // 2 * 2].view(-1, 2)
    column = pairs[:, 1]
    made = (column + 1).cpu()
    assert made[:500].tolist() == [(2 * n + 1) % 100 + 1 for n in range(500)]
    assert made[-1].item() == many[MANY // 2 * 2 - 1].item() + 1
    turned = pairs.t().contiguous()
    assert turned[1, -300:].tolist() == column[-300:].tolist()
    at = lamella.tensor([0, 2**31 - 1, 2**31, MANY - 1], device="cuda")
    assert many[at].tolist() == [many[i].item() for i in at.tolist()]
    assert many.index_select(0, at).tolist() == many[at].tolist()
    changed = many.clone()
    changed.index_put_([at], lamella.full((4,), 77, dtype=lamella.int8, device="cuda"))
    assert changed[at].tolist() == [77] * 4 and (changed != many).sum().item() == 4
    rows = lamella.cat([many, many[:10]])
    assert rows.numel() == MANY + 10 and rows[-10:].tolist() == many[:10].tolist()


# ---- training --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name, steps", [("resnet18", 20), ("gpt", 150), ("translate", 50)])
def test_examples_learn(tmp_path_factory, name, steps):
    cuda = guest(tmp_path_factory)
    command = [sys.executable, "-m", "lamella", "run", MODELS / f"{name}.py", "--device", "cuda", "--steps", str(steps)]
    assert f"at the end of {steps} steps" in run(*command, cwd=cuda.folder, timeout=100, **cuda.env)


@pytest.mark.parametrize("length", [12255, 12285, 12287, 12289])
def test_rows_as_long_as_shared_memory(length):
    """A launch's shared memory and a kernel's own must fit together."""
    x = lamella.rand(3, length)
    for f in (lambda t: t.softmax(-1), lambda t: lamella.nn.functional.layer_norm(t, (length,))):
        assert (f(x.cuda()).cpu() - f(x)).abs().max() < 1e-4


def test_heavy_kernels(tmp_path_factory):
    cuda = guest(tmp_path_factory)
    assert "hash" in run(sys.executable, HERE / "heavy.py", cwd=cuda.folder, timeout=100, **cuda.env)


def test_compute_sanitizer_reports_a_planted_write(tmp_path):
    pytest.importorskip("cupy")
    tool = next((p for f in os.environ["PATH"].split(":") if (p := Path(f, "compute-sanitizer")).exists()), None)
    if tool is None:
        pytest.skip("compute-sanitizer is not installed: it comes with the CUDA toolkit")
    done = subprocess.run(
        [tool, "--tool", "memcheck", sys.executable, HERE / "sanitized.py", "planted"], capture_output=True, text=True
    )
    assert "Invalid __global__ write" in done.stdout, done.stdout + done.stderr
