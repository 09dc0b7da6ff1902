"""The heavier kernels on the stand-in: sizes beyond samples, with and without NVIDIA's libraries, in both orders of
threads."""

import os
import sys

import pytest
from children import Guest
from shares import DAY
from standins import HERE, on_standin

PROGRAM = f"""
    import runpy, sys
    sys.argv[0] = {str(HERE / "heavy.py")!r}
    runpy.run_path(sys.argv[0], run_name="__main__")
"""


def hash_of(printed):
    return printed.strip().rpartition(" ")[2]


def test_values_do_not_depend_on_the_order_of_threads(tmp_path_factory, standin):
    """Each case of the run's share is right, and has the same bits if the threads of a block run backwards."""
    turn = {name: os.environ[name] for name in ("LAMELLA_SWEEP", DAY) if name in os.environ}
    forwards = on_standin(tmp_path_factory, **turn).run(PROGRAM)
    backwards = on_standin(tmp_path_factory, STANDIN_ORDER="backwards", **turn).run(PROGRAM)
    assert hash_of(forwards) == hash_of(backwards)


@pytest.mark.sweep
@pytest.mark.parametrize("case", ["attentions", "dropouts"])
def test_attention_on_an_older_device(tmp_path_factory, case):
    """Attention without the matrix instruction of four warps."""
    on_standin(tmp_path_factory, STANDIN_CAPABILITY="80").run(PROGRAM, case)


@pytest.mark.long
def test_products_by_cublas(tmp_path_factory, standin):
    """Layouts, sizes and types for cuBLAS and cuBLASLt, by stand-ins that refuse the same calls as NVIDIA's."""
    with_blas = on_standin(tmp_path_factory, LD_LIBRARY_PATH=f"{standin}:{standin}/blas")
    with_blas.run(PROGRAM, "blas")
    with_blas.run(PROGRAM, "blas", STANDIN_ASYNC="1")
    samples = PROGRAM.replace("heavy.py", "run_samples.py")
    with_blas.run(samples, "linear", "addmm", "baddbmm", "addmv", "addr")
    with_blas.run("""
        import lamella
        switch = lamella.backends.cuda.matmul
        switch.allow_tf32 = True  # before the device is named
        lamella.ones(1, device="cuda")
        assert switch.allow_tf32 is True
        switch.allow_tf32 = False
        assert switch.allow_tf32 is False and lamella.ops.cuda._allow_tf32() is False
    """)
    with pytest.raises(BaseException, match="Mismatched elements"):
        with_blas.run(PROGRAM, "blas", STANDIN_BLASLT_DEFECT="1")


@pytest.mark.long
def test_samples_of_products_without_cublas(tmp_path_factory, standin):
    samples = PROGRAM.replace("heavy.py", "run_samples.py")
    on_standin(tmp_path_factory).run(samples, *"mm bmm mv dot linear addmm baddbmm addmv addr matmul".split())


@pytest.mark.long
def test_convolutions_by_cudnn(tmp_path_factory, standin):
    """Layouts, sizes and types for cuDNN, by a stand-in that refuses the same calls as NVIDIA's."""
    with_dnn = on_standin(tmp_path_factory, LD_LIBRARY_PATH=f"{standin}:{standin}/dnn")
    with_dnn.run(PROGRAM, "dnn")
    with_dnn.run(PROGRAM, "dnn", STANDIN_ASYNC="1")
    samples = PROGRAM.replace("heavy.py", "run_samples.py")
    with_dnn.run(samples, "convolution", "convolution_backward", "conv1d", "conv2d", "conv3d", "conv_transpose2d.input")
    with_dnn.run("""
        import lamella
        cudnn = lamella.backends.cudnn
        cudnn.allow_tf32, cudnn.benchmark = False, True  # before the device is named
        lamella.use_deterministic_algorithms(True)
        lamella.ones(1, device="cuda")
        read = lamella.ops.cuda._cudnn_switch
        assert not read("allow_tf32") and read("deterministic_algorithms") and not read("deterministic")
        assert cudnn.allow_tf32 is False and cudnn.benchmark is True and cudnn.enabled is True
        with cudnn.flags(enabled=False, benchmark=False, deterministic=True, allow_tf32=True):
            assert read("allow_tf32") and read("deterministic") and not read("enabled")
        assert not read("allow_tf32") and not read("deterministic") and read("enabled")
    """)
    # If an algorithm's work space cannot be allocated, the next algorithm runs, and at last the backend's own kernels.
    with_dnn.run(
        """
        import lamella
        x, w = lamella.arange(50.0).reshape(1, 2, 5, 5), lamella.arange(24.0).reshape(3, 2, 2, 2)
        with lamella.backends.cudnn.flags(deterministic=True, allow_tf32=False):
            for _ in range(2):
                assert (lamella.conv2d(x.cuda(), w.cuda()).cpu() == lamella.conv2d(x, w)).all()
            assert "algorithm 1 with 1000000000 bytes\\n" in lamella.ops.cuda._cudnn_plans()
        """,
        STANDIN_DNN_SPACE="1000000000",
        STANDIN_MEMORY="100000000",
    )
    with pytest.raises(BaseException, match="Mismatched elements"):
        with_dnn.run(PROGRAM, "dnn", STANDIN_DNN_DEFECT="1")


LACKS = """
    import ctypes, lamella
    x, w = lamella.ones(3, 3, device="cuda"), lamella.ones(1, 1, 2, 2, device="cuda")
    work = lambda: lamella.conv2d(x[None, None], w).sum().item() if {dnn} else (x @ x).sum().item()
    right = 16.0 if {dnn} else 27.0
    kept = lambda: lamella.cuda.memory_reserved() - lamella.cuda.memory_allocated()
    block = lamella.empty(40 << 20, dtype=lamella.uint8, device="cuda")
    if {lives}:
        with fails(lamella.OutOfMemoryError, "{error}: the device has too little memory: ", "kept for reuse"):
            work()
    del block
    assert kept() >= 40 << 20
    assert work() == right and ({lives} or kept() < 40 << 20)
    assert {dnn} or ctypes.CDLL("libcublas.so.13").standin_blas_handles() == 1
"""


def test_libraries_that_lack_memory_have_what_is_kept_for_reuse(tmp_path_factory, standin):
    """Handles and cuBLAS's work space are made again after kept memory is freed; a second failure is an error."""
    with_both = on_standin(tmp_path_factory, LD_LIBRARY_PATH=f"{standin}:{standin}/blas:{standin}/dnn")
    small = str(70 << 20)
    for error, dnn, once, twice in (
        ("cuBLAS: cublasCreate", False, {"STANDIN_BLAS_LACKS": "1"}, {"STANDIN_BLAS_LACKS": "2"}),
        ("cuDNN: cudnnCreate", True, {"STANDIN_DNN_LACKS": "1"}, {"STANDIN_DNN_LACKS": "2"}),
        ("cuBLAS: 33554432 bytes of work space", False, {"STANDIN_MEMORY": small}, {"STANDIN_MEMORY": small}),
    ):
        with_both.run(LACKS.format(error=error, dnn=dnn, lives=False), **once)
        with_both.run(LACKS.format(error=error, dnn=dnn, lives=True), **twice)


@pytest.mark.sweep
@pytest.mark.parametrize(
    "case, alter",
    [
        ("meeting", "if (++p > ends ||=>if (++p > ends - 1 ||"),  # the last piece of a sum is left out
        ("sorts", "ranks[warp][digit] += __popc(same)=>ranks[warp][digit] += 1"),
        ("wide_attentions", "sum[i] = sum[i] * less + =>sum[i] = sum[i] + "),
        ("attentions", "own + 15 > i0)=>own > i0)"),  # a tile on the diagonal is treated as one below it
        ("attentions", "[(2 * t + j) * 4 + p]=>[(2 * t + j) * 4 + p % 2]"),  # in the words of the matrix instruction
        ("wide_attentions", "bits_as<float>(x) - bits_as<float>(high)=>0.0f"),  # float32 by the high halves alone
        (
            "long_sums",  # the instruction, which rounds towards zero, sums over all tiles
            "float part[4][4] = {};=>float part[4][4]; for (int k = 0; k < 4; k++) for (int e = 0; e < 4; e++)"
            " part[k][e] = sums[half * 4 + k][e], sums[half * 4 + k][e] = 0;",
        ),
        ("attentions", "(x - from) * by=>x * by - from * by"),  # for masks with the lowest number
        ("dropouts", "return unit(word) < stay_=>return unit(word) <= 1 - stay_"),
        ("convolutions", "end = begin + part < depth ? begin + part : depth=>end = begin + part - 1"),
    ],
)
def test_planted_defects_are_found(standin, tmp_path, case, alter):
    """A kernel with a defect in one place fails its case."""
    variables = {
        "LD_LIBRARY_PATH": str(standin),
        "LAMELLA_CUDA_CACHE": str(tmp_path),
        "STANDIN_ALTER": alter,
    }
    with pytest.raises(BaseException, match="Mismatched elements|nan location"):
        Guest(sys.executable, tmp_path, variables).run(PROGRAM, case)
