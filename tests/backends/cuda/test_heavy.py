"""The heavier kernels on the stand-in: sizes beyond samples, with and without cuBLAS, in either order of threads."""

import sys

import pytest
from children import Guest
from standins import HERE, on_standin

PROGRAM = f"""
    import runpy, sys
    sys.argv[0] = {str(HERE / "heavy.py")!r}
    runpy.run_path(sys.argv[0], run_name="__main__")
"""


def hash_of(printed):
    return printed.strip().rpartition(" ")[2]


def test_values_do_not_depend_on_the_order_of_threads(tmp_path_factory, standin):
    """Every case is right, and has the same bits where the threads of a block run backwards."""
    forwards = on_standin(tmp_path_factory).run(PROGRAM)
    backwards = on_standin(tmp_path_factory, STANDIN_ORDER="backwards").run(PROGRAM)
    assert hash_of(forwards) == hash_of(backwards)


def test_products_by_cublas(tmp_path_factory, standin):
    """Which layouts, sizes and types are handed to cuBLAS, by a library that refuses what NVIDIA's refuses."""
    with_blas = on_standin(tmp_path_factory, LD_LIBRARY_PATH=f"{standin}:{standin}/blas")
    with_blas.run(PROGRAM, "blas")
    with_blas.run("""
        import lamella
        switch = lamella.backends.cuda.matmul
        switch.allow_tf32 = True  # before the device is named
        lamella.ones(1, device="cuda")
        assert switch.allow_tf32 is True
        switch.allow_tf32 = False
        assert switch.allow_tf32 is False and lamella.ops.cuda._allow_tf32() is False
    """)


@pytest.mark.parametrize(
    "case, alter",
    [
        ("meeting", "if (++p > ends ||=>if (++p > ends - 1 ||"),  # the last piece of a sum is left out
        ("sorts", "ranks[warp][digit] += __popc(same)=>ranks[warp][digit] += 1"),
        ("attentions", "sum[i] = sum[i] * less + =>sum[i] = sum[i] + "),
        ("attentions", "(2 * t + j) * 4 + p % 4=>(2 * t + j) * 4 + p % 2"),  # in the matrix instruction's words
        ("convolutions", "end = begin + part < depth ? begin + part : depth=>end = begin + part - 1"),
    ],
)
def test_planted_defects_are_found(standin, tmp_path, case, alter):
    """A kernel that is wrong in one place fails its case."""
    variables = {
        "LD_LIBRARY_PATH": str(standin),
        "LAMELLA_CUDA_CACHE": str(tmp_path),
        "STANDIN_ALTER": alter,
    }
    with pytest.raises(BaseException, match="Mismatched elements"):
        Guest(sys.executable, tmp_path, variables).run(PROGRAM, case)
