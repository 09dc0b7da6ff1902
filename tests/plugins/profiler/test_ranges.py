"""``emit_nvtx`` and ``emit_itt`` with stand-in libraries, which the loader finds in place of the tools' own."""

import shutil
from pathlib import Path

import pytest
from compiled import compile_library

HERE = Path(__file__).parent

PROGRAM = """
    import threading
    import lamella
    from lamella.autograd.profiler import emit_KIND, record_function

    x = lamella.ones(2, 3, requires_grad=True)
    lamella.zeros(1)
    with emit_KIND(record_shapes=True):
        with record_function("block"):
            y = (x * 2).sum()
        y.backward()
        try:
            lamella.mm(x, x)
        except RuntimeError:
            pass
        thread = threading.Thread(target=lambda: lamella.cat([lamella.ones(1), lamella.ones(2)]))
        thread.start()
        thread.join()
    lamella.zeros(1)
"""


def logged(path):
    """Returns the calls of each thread: nested lists [name, inside...], and marks as texts."""
    threads = {}
    for line in path.read_text().splitlines():
        thread, what, text = line.split(" ", 2)
        stack = threads.setdefault(thread, [[]])
        if what == "push":
            stack[-1].append([text])
            stack.append(stack[-1][-1])
        elif what == "mark":
            stack[-1].append(text)
        else:
            stack.pop()
    assert all(len(stack) == 1 for stack in threads.values())  # each push has a pop
    return [stack[0] for stack in threads.values()]


def test_nvtx(host, tmp_path, tmp_path_factory):
    library = compile_library(tmp_path_factory, HERE / "range_tools.cpp")
    (tmp_path / "tools").mkdir()
    shutil.copy(library, tmp_path / "tools" / "libnvToolsExt.so.1")
    host.run(PROGRAM.replace("KIND", "nvtx"), LD_LIBRARY_PATH=str(tmp_path / "tools"), RANGES_LOG=str(tmp_path / "log"))
    main, other = logged(tmp_path / "log")
    block = main[0]
    assert block[0] == "block"
    (mul, number), (total, later) = block[1:]
    assert mul == "aten::mul, sizes = [[2, 3], []]" and number.startswith("aten::mul, seq = ")
    assert total.startswith("aten::sum, sizes = [[2, 3]") and later.startswith("aten::sum, seq = ")
    steps = [one[0] for one in main[1:]]
    assert f"MulBackward0, {number.rpartition(', ')[2]}" in steps and "AccumulateGrad" in steps
    assert f"SumBackward0, {later.rpartition(', ')[2]}" in steps
    assert steps[-1] == "aten::mm, sizes = [[2, 3], [2, 3]]"  # the failed call's range has an end
    assert other[-1][0] == "aten::cat, sizes = [[[1], [2]], []]"
    assert "zeros" not in (tmp_path / "log").read_text()


def test_itt(host, tmp_path, tmp_path_factory):
    library = compile_library(tmp_path_factory, HERE / "range_tools.cpp", "-DITT")
    host.run(PROGRAM.replace("KIND", "itt"), INTEL_LIBITTNOTIFY64=str(library), RANGES_LOG=str(tmp_path / "log"))
    main, other = logged(tmp_path / "log")
    assert main[0][:2] == ["lamella: block", ["lamella: aten::mul, sizes = [[2, 3], []]"]]
    assert other[-1][0] == "lamella: aten::cat, sizes = [[[1], [2]], []]"


@pytest.mark.parametrize("kind", ["nvtx", "itt"])
def test_no_library_and_a_wrong_one(host, tmp_path, tmp_path_factory, kind):
    library = compile_library(tmp_path_factory, "int unrelated() { return 1; }\n")
    host.run(
        """
        import sys
        import lamella
        from lamella.autograd import profiler

        kind, wrong = sys.argv[1:]
        emit = getattr(profiler, "emit_" + kind)
        with emit(enabled=False) as nothing:
            assert nothing is None
        for found, words in ([], "was found"), (["/absent.so", wrong], f"{wrong}: it lacks functions of {kind}"):
            emit.libraries = staticmethod(lambda: found)
            try:
                with emit():
                    raise AssertionError("it has begun")
            except RuntimeError as error:
                assert f"emit_{kind}: no library of {kind.upper()}" in str(error) and words in str(error), error
                assert not found or "/absent.so: cannot open" in str(error)
        lamella.ones(1)
        """,
        kind,
        str(library),
    )


def test_one_is_entered_once(host, tmp_path, tmp_path_factory):
    library = compile_library(tmp_path_factory, HERE / "range_tools.cpp")
    host.run(
        """
        import sys
        import lamella
        from lamella.autograd.profiler import emit_nvtx

        emit_nvtx.libraries = staticmethod(lambda: sys.argv[1:])
        with emit_nvtx() as outer, emit_nvtx():
            lamella.ones(1)
            with fails(RuntimeError, "entered already"):
                outer.__enter__()
        lamella.zeros(1)
        """,
        str(library),
        RANGES_LOG=str(tmp_path / "log"),
    )
    assert [line.split()[1:] for line in (tmp_path / "log").read_text().splitlines()] == [
        ["push", "aten::ones"], ["push", "aten::ones"], ["pop"], ["pop"]]  # fmt: skip
