"""Fourier transforms of device ``cuda`` by a stand-in for cuFFT, which refuses the same calls as NVIDIA's, and without
cuFFT."""

import sys

import pytest
from children import Guest, run
from standins import HERE, on_standin

PROGRAM = f"""
    import runpy, sys
    sys.argv[0] = {str(HERE / "fourier.py")!r}
    runpy.run_path(sys.argv[0], run_name="__main__")
"""
OPERATORS = ("_fft_c2c", "_fft_r2c", "_fft_c2r")

COUNTED = """
    import ctypes
    import lamella
    import numpy as np
    library = ctypes.CDLL("libcufft.so.12")
    calls, made, handles = library.standin_fft_calls, library.standin_fft_made, library.standin_fft_handles
    plans = lamella.backends.cuda.cufft_plan_cache
    transform = lambda n, m=2: lamella.fft.fft(lamella.ones(m, n, device="cuda", dtype=lamella.complex64))
"""


@pytest.fixture(scope="module")
def with_fft(tmp_path_factory, standin):
    return on_standin(tmp_path_factory, LD_LIBRARY_PATH=f"{standin}:{standin}/fft")


@pytest.mark.long
def test_every_layout_is_transformed_by_cufft(with_fft):
    """Values are numpy's, in one order of queued work and in another, and cuFFT has computed them."""
    at_once, later = with_fft.run(PROGRAM), with_fft.run(PROGRAM, STANDIN_ASYNC="1")
    assert at_once == later and int(at_once.split()[-1]) > 700, (at_once, later)


@pytest.mark.long
def test_samples_by_cufft(with_fft):
    for program, more in (("run_samples.py", ["stft.center", "istft"]), ("run_gradients.py", [])):
        said = run(sys.executable, HERE / program, *OPERATORS, *more, cwd=with_fft.folder, **with_fft.env)
        assert '{"fallbacks": []}' in said, said


def test_values_without_cufft(tmp_path_factory, standin):
    """The composites compute the same, on the device."""
    without = on_standin(tmp_path_factory)
    assert without.run(PROGRAM, "orders", "layouts", "results", "dtypes", "gradients") == "plans 0\n"


def test_calls_of_the_library(with_fft):
    """Up to three dimensions take one call, a large batch in two groups one for each, a small one a single call."""
    with_fft.run(
        COUNTED
        + """
    def counted(function, *shape, dtype=lamella.complex64, **more):
        x = lamella.ones(*shape, device="cuda", dtype=dtype)
        before = calls()
        function(x, **more)
        return calls() - before
    fft = lamella.fft
    assert counted(fft.fftn, 2, 3, 4) == 1
    assert counted(fft.fftn, 2, 3, 4, 5) == 2
    assert counted(fft.rfftn, 2, 3, 4, 5, dtype=lamella.float32) == 2
    assert counted(fft.rfftn, 2, 3, 4, dtype=lamella.float32, dim=(2, 0)) == 2
    assert counted(fft.irfftn, 2, 3, 4) == 2
    assert counted(fft.fft, 2, 3, 4, dim=1) == 1
    assert counted(fft.fft, 2, 4, 1 << 17, dim=1) == 2
    assert counted(fft.fft, 2, 1) == 0 and counted(fft.fft, 0, 4) == 0
    """
    )


def test_the_cache_of_plans(with_fft):
    """It has torch's names and drops the plans that were not used for the longest time."""
    with_fft.run(
        COUNTED
        + """
    assert plans.size == 0
    plans.max_size = 3  # before the device is named
    plans.clear()
    transform(4)
    assert plans.max_size == plans[0].max_size == plans["cuda:0"].max_size == 3 and plans.size == made() == 1
    for n in (5, 6, 4, 7):
        transform(n)
    assert plans.size == handles() == 3 and made() == 4
    transform(4), transform(6)
    assert made() == 4  # 5 was dropped
    transform(5)
    assert made() == 5 and handles() == 3
    plans[0].max_size = 1
    assert plans.size == handles() == 1
    plans.max_size = 0
    before = calls()
    transform(8), transform(8)
    assert made() == 7 and plans.size == handles() == 0 and calls() == before + 2
    plans.max_size = 10
    transform(8), transform(9)
    plans.clear()
    assert plans.size == handles() == 0 and plans.max_size == 10
    for wrong, kind in (("plans.max_size = -1", RuntimeError), ("plans[7].size", IndexError)):
        with fails(kind, "cufft_plan_cache: "):
            exec(wrong)
    """
    )


def test_a_cache_of_plans_is_there_without_the_device(tmp_path):
    Guest(sys.executable, tmp_path, {"LD_LIBRARY_PATH": str(tmp_path)}).run("""
        import lamella
        plans = lamella.backends.cuda.cufft_plan_cache
        plans.clear()
        plans.max_size = 7
        assert plans.size == 0 and plans.max_size == 7
        if not lamella.cuda.is_available():
            with fails(RuntimeError, "cufft_plan_cache[0]: there is no device"):
                plans[0]
    """)


def test_captures_need_a_plan(with_fft):
    """A plan is not made in a capture, and one that a graph replays is kept."""
    with_fft.run(
        COUNTED
        + """
    x = lamella.ones(2, 6, device="cuda", dtype=lamella.complex64)
    with lamella.cuda.stream(lamella.cuda.Stream()):
        transform(6)
        graph = lamella.cuda.CUDAGraph()
        graph.capture_begin()
        y = lamella.fft.fft(x)
        with fails(RuntimeError, "cuda: cuFFT makes no plan during a capture: run the transform once before"):
            transform(12)
        graph.capture_end()
        plans.clear()
        assert plans.size == 0 and handles() == 1
        graph.replay()
        assert y.cpu().numpy().round(9).tolist() == [[6, 0, 0, 0, 0, 0]] * 2
    """
    )


LACKS = (
    COUNTED
    + """
    kept = lambda: lamella.cuda.memory_reserved() - lamella.cuda.memory_allocated()
    lamella.ones(2, device="cuda")
    block = lamella.empty(40 << 20, dtype=lamella.uint8, device="cuda")
    if {lives}:
        with fails({error}):
            transform(5)
        assert handles() == 0 and plans.size == {left}
    del block
    held = kept()
    assert transform(5).cpu().numpy().round(9).tolist() == [[5, 0, 0, 0, 0]] * 2
    assert handles() == 1 and ({lives} or kept() < held)
"""
)


def test_a_lack_of_memory(with_fft):
    """A plan is made again once kept memory is given back; a second failure is an error, after which calls work."""
    lack = 'lamella.OutOfMemoryError, "cuda: cuFFT: cufftXtMakePlanMany: the device has too little memory: "'
    status = 'RuntimeError, "cuda: cuFFT: cufftXtMakePlanMany: status 5"'
    with_fft.run(LACKS.format(lives=False, error="", left=0), STANDIN_FFT_LACKS="1")
    with_fft.run(LACKS.format(lives=True, error=lack, left=0), STANDIN_FFT_LACKS="2")
    with_fft.run(LACKS.format(lives=False, error="", left=0), STANDIN_FFT_LACKS="1", STANDIN_FFT_STATUS="5")
    with_fft.run(LACKS.format(lives=True, error=status, left=0), STANDIN_FFT_LACKS="2", STANDIN_FFT_STATUS="5")
    with_fft.run(
        COUNTED
        + """
    with fails(lamella.OutOfMemoryError, "cuda: cannot allocate "):
        transform(5)
    transform(8)  # a power of two needs no work space
    """,
        STANDIN_FFT_SPACE="1000000000",
        STANDIN_MEMORY="100000000",
    )


def test_what_cufft_refuses_is_computed_by_the_composite(with_fft):
    """A length that the library does not support is tried once."""
    with_fft.run(
        COUNTED
        + """
    a = np.random.default_rng(0).standard_normal((3, 19)) + 1j
    x = lamella.from_numpy(a).cuda()
    for _ in range(2):
        np.testing.assert_allclose(lamella.fft.fftn(x).cpu().numpy(), np.fft.fftn(a), 1e-12, 1e-12)
        np.testing.assert_allclose(lamella.fft.rfft(x.real).cpu().numpy(), np.fft.rfft(a.real), 1e-12, 1e-12)
        np.testing.assert_allclose(
            lamella.fft.irfft(x[:, :10], n=19).cpu().numpy(), np.fft.irfft(a[:, :10], n=19), 1e-12, 1e-12
        )
    assert calls() == made() == handles() == 0 and plans.size == 3 and not lamella.fallback_counts()
    """
    )


@pytest.mark.parametrize(
    "case, alter",
    [
        ("orders", None),
        ("lengths", "x.im = -x.im;=>"),
        ("orders", "&& j ? n - j : j=>&& j ? j : j"),
        ("lengths", "at[0].im = 0;=>"),
        ("lengths", "if (both)=>if (false)"),
    ],
    ids=("the library", "no conjugates", "no reflection", "the first element", "the last element"),
)
def test_planted_defects_are_found(standin, tmp_path, case, alter):
    variables = {"LD_LIBRARY_PATH": f"{standin}:{standin}/fft", "LAMELLA_CUDA_CACHE": str(tmp_path)}
    variables |= {"STANDIN_ALTER": alter} if alter else {"STANDIN_FFT_DEFECT": "1"}
    with pytest.raises(BaseException, match="Mismatched elements"):
        Guest(sys.executable, tmp_path, variables).run(PROGRAM, case)
