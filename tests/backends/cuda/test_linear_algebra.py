"""Linear algebra on device ``cuda`` by cuSOLVER and cuBLAS, or by stand-ins that refuse the same calls as NVIDIA's."""

import json

import pytest
from children import run
from standins import DECLINING, HERE, guest, has_gpu, on_standin

PROGRAM = f"""
    import runpy, sys
    sys.argv[0] = {str(HERE / "linear_algebra.py")!r}
    runpy.run_path(sys.argv[0], run_name="__main__")
"""
FALLBACKS = """
    import json, lamella
    print(json.dumps(sorted({f.operator for f in lamella.fallback_counts()})))
"""
CALLED = """
    import ctypes
    solver, factors = ctypes.CDLL("libcusolver.so.12"), ctypes.CDLL("libcublas.so.13")
    for name in names[0].split():
        assert solver.standin_solver_calls(name.encode()) > 0, name
    for name in names[1].split():
        assert factors.standin_factor_calls(name.encode()) > 0, name
    assert solver.standin_solver_handles() > 0
"""
WITHOUT = """
    import lamella
    la = lamella.linalg
    here = lamella.tensor([[[4.0, 1.0], [1.0, 3.0]], [[2.0, 0.0], [0.0, 5.0]]])
    there = here.to("cuda")
    for f in (la.cholesky, la.inv, la.det, la.eigvalsh, la.svdvals, la.eigvals, la.qr, la.ldl_factor):
        ours, theirs = f(there), f(here)
        for mine, other in zip(*((r,) if isinstance(r, lamella.Tensor) else r for r in (ours, theirs))):
            assert mine.device.type == "cuda" and lamella.allclose(mine.cpu(), other), f
"""
COUNTING = "sys.argv[1:], names = sys.argv[1:-2], sys.argv[-2:]; sys.argv[0] ="
LIBRARIES = ("blas", "solver")
CASES = ("equations", "symmetric", "orthogonal", "spectra", "failures", "streams", "captures")
PRIMITIVES = "_linalg_cholesky _linalg_lu _linalg_lu_solve _linalg_solve _linalg_triangular geqrf linalg_qr ormqr "
PRIMITIVES += (
    "linalg_householder_product _linalg_eigh _linalg_eig _linalg_svd _linalg_ldl _linalg_ldl_solve _linalg_lstsq"
)
# The functions of cuSOLVER, and of cuBLAS, that each case calls: all that the kernels call, but for syevjBatched, which
# only older versions need.
FUNCTIONS = {
    "equations": ("Xpotrf Xgetrf Xgetrs potrfBatched", "trsm trsmBatched getrfBatched getrsBatched"),
    "symmetric": ("sytrf Xsytrs", ""),
    "orthogonal": ("Xgeqrf orgqr ormqr", "geqrfBatched"),
    "spectra": ("Xsyevd Xgesvd XsyevBatched Xgeev gesvdj gesvdjBatched", ""),
}


@pytest.fixture(scope="module")
def solver(tmp_path_factory):
    """A Python whose device has cuSOLVER: the GPU's, or the stand-in."""
    return guest(tmp_path_factory) if has_gpu() else on_standin(tmp_path_factory, *LIBRARIES)


def fallbacks(printed):
    return json.loads(printed.strip().splitlines()[-1])


@pytest.mark.parametrize("case", CASES)
@pytest.mark.long
def test_results_are_numpys(solver, case):
    """The functions that the case calls are counted, unless the libraries are a GPU's."""
    counted = case in FUNCTIONS and not has_gpu()
    program = PROGRAM.replace("sys.argv[0] =", COUNTING) + CALLED if counted else PROGRAM
    functions = FUNCTIONS[case] if counted else ()
    fallen = fallbacks(solver.run(program + FALLBACKS, case, *functions, STANDIN_ASYNC=str(int(case == "streams"))))
    assert fallen == [], fallen


@pytest.mark.long
def test_samples_and_gradients_run_on_the_device(solver):
    """Samples of the primitives agree with the oracles, and only those that decline run on the host."""
    for program in ("run_samples.py", "run_gradients.py"):
        said = run(solver.python, HERE / program, *PRIMITIVES.split(), cwd=solver.folder, timeout=600, **solver.env)
        (line,) = [line for line in said.splitlines() if line.startswith('{"fallbacks"')]
        assert set(json.loads(line)["fallbacks"]) <= DECLINING, said


def test_the_program_for_the_sanitizer_runs(solver):
    said = run(solver.python, HERE / "sanitized.py", "factorizations", cwd=solver.folder, timeout=300, **solver.env)
    assert said == "factorizations\n"


@pytest.mark.long
def test_an_older_library_is_called(tmp_path_factory, standin):
    """Without the newer functions batches of eigenvalues have those of Jacobi's method."""
    older = on_standin(tmp_path_factory, "blas", "old_solver")
    program = PROGRAM.replace("sys.argv[0] =", COUNTING) + CALLED + FALLBACKS
    fallen = fallbacks(older.run(program, "spectra", "syevjBatched Xsyevd", ""))
    assert fallen == ["aten::_linalg_eig"], fallen  # Xgeev is absent, so eig declines


def test_results_are_the_same_without_the_library(tmp_path_factory, standin):
    """Without cuSOLVER, or without cuBLAS, kernels decline, and the host computes."""
    wanted = "cholesky lu lu_solve eigh svd eig ldl".split()
    for libraries in ((), ("blas",), ("solver",)):
        fallen = fallbacks(on_standin(tmp_path_factory, *libraries).run(WITHOUT + FALLBACKS))
        assert {f"aten::_linalg_{name}" for name in wanted} <= set(fallen), (libraries, fallen)


def test_the_library_of_a_wheel_is_opened_at_its_first_use(tmp_path_factory, standin, tmp_path):
    folder = tmp_path / "nvidia/cusolver/lib"
    folder.mkdir(parents=True)
    (folder / "libcusolver.so.12").symlink_to(standin / "solver/libcusolver.so.12")
    on_standin(tmp_path_factory, "blas", PYTHONPATH=str(tmp_path)).run("""
        import lamella
        opened = lambda: "libcusolver" in open("/proc/self/maps").read()
        x = lamella.eye(3, device="cuda")
        assert (x @ x).sum().item() == 3 and not opened()
        assert lamella.linalg.cholesky(x).sum().item() == 3 and opened()
        assert lamella.ops.cuda._cusolver_version() == 12401 and lamella.fallback_counts() == []
    """)


def test_a_lack_of_memory_is_an_error_of_the_device(tmp_path_factory, standin):
    """A handle is made again after kept memory is freed; a second failure is an OutOfMemoryError."""
    program = """
        import ctypes, lamella
        x = lamella.eye(3, device="cuda")
        block = lamella.empty(40 << 20, dtype=lamella.uint8, device="cuda")
        if {lives}:
            words = "cuSOLVER: cusolverDnCreate: the device has too little memory"
            with fails(lamella.OutOfMemoryError, words, "kept for reuse"):
                lamella.linalg.cholesky(x)
        del block
        assert lamella.linalg.cholesky(x).sum().item() == 3
        assert {lives} or lamella.cuda.memory_reserved() < 40 << 20
        assert ctypes.CDLL("libcusolver.so.12").standin_solver_handles() == 1
    """
    python = on_standin(tmp_path_factory, *LIBRARIES)
    python.run(program.format(lives=False), STANDIN_SOLVER_LACKS="1")
    python.run(program.format(lives=True), STANDIN_SOLVER_LACKS="2")


@pytest.mark.parametrize("case", CASES[:4])
def test_a_defect_of_the_library_is_found(tmp_path_factory, standin, case):
    python = on_standin(tmp_path_factory, *LIBRARIES)
    with pytest.raises(BaseException, match="Mismatched elements|AssertionError"):
        python.run(PROGRAM, case, STANDIN_SOLVER_DEFECT="1")


@pytest.mark.sweep
@pytest.mark.parametrize(
    "case, alter",
    [
        ("equations", "above ? row < column : row > column=>above ? row > column : row > column"),
        ("equations", "to[i] = right ? given=>to[i] = right ? static_cast<To>(i % n + 1)"),
        ("orthogonal", "row <= column ? from=>row < column ? from"),
        ("spectra", "conjugated(from[i / k / n * from_each=>(from[i / k / n * from_each"),
        ("spectra", "second ? -parts[i]=>second ? parts[i]"),
        ("failures", "found = found || !finite(at[i])=>found = found"),
        ("failures", "if (flags[i / each])=>if (flags[0])"),
    ],
    ids=("the other triangle", "exchanged rows", "the diagonal of R", "V", "conjugate vectors", "NaN", "flags"),
)
def test_planted_defects_are_found(tmp_path_factory, standin, tmp_path, case, alter):
    """A kernel with a defect in one place fails its case."""
    python = on_standin(tmp_path_factory, *LIBRARIES, LAMELLA_CUDA_CACHE=str(tmp_path))
    with pytest.raises(BaseException, match="Mismatched elements|AssertionError"):
        python.run(PROGRAM, case, STANDIN_ALTER=alter)
