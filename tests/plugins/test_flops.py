"""The example layer in C++ and in Python: counts equal those by hand; order of layers, on, off, idle, no Python."""

import json
import shutil
from pathlib import Path

import pytest
from children import run

ROOT = Path(__file__).resolve().parents[2]

# Each case: a call, and its counts computed by hand. a: (5, 7), b: (7, 3), v: (7,), s: (2, 5, 7), t: (2, 7, 3).
CASES = {
    "a @ b": {"aten::mm": 2 * 5 * 7 * 3},
    "lamella.mm(a, b)": {"aten::mm": 2 * 5 * 7 * 3},
    "lamella.mm(a, b, out=lamella.empty(5, 3))": {"aten::mm": 2 * 5 * 7 * 3},
    "a.t() @ a": {"aten::mm": 2 * 7 * 5 * 7},
    "lamella.bmm(s, t)": {"aten::bmm": 2 * 2 * 5 * 7 * 3},
    "s @ t": {"aten::bmm": 2 * 2 * 5 * 7 * 3},
    "s @ b": {"aten::mm": 2 * 2 * 5 * 7 * 3},
    "a @ v": {"aten::mv": 2 * 5 * 7},
    "lamella.empty(0, 7) @ b": {},
    "a + a": {"aten::add": 35},
    "a + v": {"aten::add": 35},
    "a + 1": {"aten::add": 35},
    "lamella.add(a, a, alpha=2)": {"aten::add": 70},
    "lamella.add(a, 3, alpha=2)": {"aten::add": 70},
    "lamella.add(a, a, alpha=1.0)": {"aten::add": 35},
    "lamella.add(a, a, alpha=2, out=lamella.empty(5, 7))": {"aten::add": 70},
    "a.clone().add_(a)": {"aten::add_": 35},
    "a.clone().sub_(v, alpha=0.5)": {"aten::sub_": 70},
    "10 - a": {"aten::rsub": 35},
    "a * 2 + 1": {"aten::mul": 35, "aten::add": 35},
    "a.pow(2).sum()": {"aten::pow": 35, "aten::sum": 35},
    "a.clamp(min=0)": {"aten::clamp": 35},
    "a < 0": {"aten::lt": 35},
    "lamella.where(a < 0, 0.0, a)": {"aten::lt": 35, "aten::where": 35},
    "lamella.where(v < 0, a, v)": {"aten::lt": 7, "aten::where": 35},
    "lamella.exp(a)": {"aten::exp": 35},
    "a.sum(dim=0)": {"aten::sum": 35},
    "a.t().mean(dim=1)": {"aten::mean": 35},
    "a.max(dim=1)": {"aten::max": 35},
    "a.argmax()": {"aten::argmax": 35},
    "a.t(), a[0], a[1:3], a.view(7, 5), a.reshape(-1), a.clone(), a.to(lamella.float64)": {},
    "lamella.zeros(3), lamella.ones(2, 2), lamella.arange(9), lamella.randn(4), a.detach()": {},
    "a[a < 0]": {"aten::lt": 35},
    "a.clone().__setitem__(a < 0, 0)": {"aten::lt": 35, "aten::where": 35},  # a mask with a number is a where
    "a.masked_fill(a < 0, 0)": {"aten::lt": 35, "aten::where": 35},
    "lamella.empty(5, 7, device='meta') @ lamella.empty(7, 3, device='meta')": {"aten::mm": 2 * 5 * 7 * 3},
    "lamella.tensor([7, 8]) * lamella.tensor([1.5, 2.5])": {"aten::mul": 2},
    "lamella.div(a, 2, rounding_mode='floor')": {"aten::floor_divide": 35},
}

COUNT = """
    import json, sys
    import lamella
    from lamella_flops import native, twin

    lamella.manual_seed(0)
    names = {"lamella": lamella, "a": lamella.randn(5, 7), "b": lamella.randn(7, 3), "v": lamella.randn(7)}
    names |= {"s": lamella.randn(2, 5, 7), "t": lamella.randn(2, 7, 3)}
    for case in json.loads(sys.argv[1]):
        native.reset(), twin.reset()
        with native.on(), twin.on():
            eval(case, names)
        print(json.dumps([native.counts(), twin.counts()]), flush=True)
"""


def counted(guest, cases):
    """Returns the counts of both layers for each case."""
    return [json.loads(line) for line in guest.run(COUNT, json.dumps(cases)).splitlines()]


@pytest.fixture(scope="module")
def answers(guest):
    # A separate process runs this case, so that a crash does not lose the results of the others.
    alone = "lamella.div(a, 2, rounding_mode='floor')"
    together = [c for c in CASES if c != alone]
    found = dict(zip(together, counted(guest, together), strict=True))
    return lambda case: found[case] if case in found else counted(guest, [case])[0]


@pytest.mark.parametrize("case", CASES)
def test_counts_are_those_by_hand(answers, case):
    native, twin = answers(case)
    assert native == CASES[case]
    assert twin == CASES[case]


def test_random_shapes_by_the_formula(guest):
    guest.run("""
        import random
        import lamella
        from lamella_flops import native, twin

        random.seed(0)
        for _ in range(200):
            m, n, k, b = (random.randrange(0, 9) for _ in range(4))
            native.reset(), twin.reset()
            with native.on(), twin.on():
                lamella.mm(lamella.empty(m, k), lamella.empty(k, n))
                lamella.bmm(lamella.empty(b, m, k), lamella.empty(b, k, n))
                lamella.empty(m, 1) * lamella.empty(n)
            wanted = {"aten::mm": 2 * m * n * k, "aten::bmm": 2 * b * m * n * k, "aten::mul": m * n}
            wanted = {name: flops for name, flops in wanted.items() if flops}
            assert dict(native.counts()) == wanted == dict(twin.counts()), (m, n, k, b, native.counts(), twin.counts())
            assert native.total() == twin.total() == sum(wanted.values())
    """)


def test_idle_until_it_is_switched_on(guest):
    guest.run("""
        import lamella
        from lamella_flops import native, twin

        a = lamella.ones(4, 4)
        a @ a + a
        assert native.counts() == {} == twin.counts()
        with native.on():
            a + a
            with native.off():
                a + a
        with twin.on():
            a * a
            with twin.off():
                a * a
        a + a
        assert native.counts() == {"aten::add": 16}, native.counts()
        assert twin.counts() == {"aten::mul": 16}, twin.counts()
        for layer in (native, twin):
            layer.reset()
            layer.enable()
            layer.enable()
            a - a
            layer.enable(False)
            a - a
            assert layer.counts() == {"aten::sub": 16}, layer.counts()
    """)


def test_an_idle_layer_is_in_nobodys_way(guest):
    """An idle layer's kernels do not run: the trace prints zero as the keys of a call."""
    out = guest.run(
        """
        import os, sys
        os.dup2(sys.stdout.fileno(), sys.stderr.fileno())
        import lamella
        from lamella_flops import native
        lamella.ones(2) + 1
        print("switched on", flush=True)
        with native.on():
            lamella.ones(2) + 1
        """,
        LAMELLA_TRACE_DISPATCH="1",
    )
    idle, active = out.split("switched on\n")
    assert "-> flops" not in idle and "add.Scalar -> cpu" in idle
    assert "add.Scalar -> flops" in active and "add.Scalar -> cpu" in active


def test_order_follows_the_wishes(guest):
    """The Python layer requests a place outside of the native one, and gets the higher bit in the profiler's band."""
    out = guest.run("""
        import json
        import lamella
        from lamella import _C
        print(json.dumps([_C._layers(), {name: [low, high] for name, low, high in _C._anchors()}]))
    """)
    layers, anchors = json.loads(out)
    bits = {name: bit for bit, name, _ in layers}
    low, high = anchors["profiler"]
    assert low <= bits["flops"] < bits["flops-twin"] <= high
    assert {owner for _, name, owner in layers if name == "flops"} == {"lamella-flops"}


def test_threads_and_process(guest):
    guest.run("""
        import threading
        import lamella
        from lamella_flops import native, twin

        def work():
            for _ in range(100):
                lamella.ones(3) + 1

        def in_threads():
            workers = [threading.Thread(target=work) for _ in range(4)]
            for w in workers: w.start()
            for w in workers: w.join()

        with native.on(), twin.on():
            in_threads()
        assert native.counts() == {} == twin.counts()  # `on` is this thread's
        for layer in (native, twin):
            layer.enable(process=True)
        in_threads()
        for layer in (native, twin):
            layer.enable(False, process=True)
        in_threads()
        assert native.counts() == {"aten::add": 1200} == twin.counts(), (native.counts(), twin.counts())
    """)


def test_a_call_that_raises_counts_nothing(guest):
    guest.run("""
        import lamella
        from lamella_flops import native, twin

        with native.on(), twin.on():
            for _ in range(3):
                with fails(RuntimeError, "do not multiply"):
                    lamella.ones(2, 3) @ lamella.ones(2, 3)
            lamella.ones(2, 3) @ lamella.ones(3, 2)
        assert native.counts() == {"aten::mm": 24} == twin.counts()
    """)


def test_a_strangers_operator_counts_by_its_category(guest):
    guest.run("""
        import lamella
        from lamella_flops import native, twin

        lib = lamella.library.Library("stranger", "DEF", owner="a test")
        lib.define("swap(Tensor self, Tensor other) -> Tensor", category="pointwise", dims="broadcast")
        lib.impl("swap", lambda x, y: lamella.tensor(y.numpy()), "cpu")
        lib.define("fused(Tensor self, Tensor other) -> Tensor", category="pointwise", dims="broadcast")
        lib.impl("fused", lambda x, y: (x + y) * y, "composite")
        lib.define("mm(Tensor self) -> Tensor")
        lib.impl("mm", lambda x: x.clone(), "cpu")
        a = lamella.ones(3, 4)
        with native.on(), twin.on():
            lamella.ops.stranger.swap(a, a)
            lamella.ops.stranger.fused(a, a)
            lamella.ops.stranger.mm(a)
        wanted = {"aten::add": 12, "aten::mul": 12, "stranger::swap": 12}
        assert native.counts() == wanted == twin.counts(), (native.counts(), twin.counts())
    """)


def test_importing_the_package_before_lamella(guest):
    out = guest.run("""
        import lamella_flops.twin, lamella_flops.native
        import lamella
        print([(p.name, p.state, p.reason) for p in lamella.plugins.status() if "flops" in p.name])
    """)
    assert out.strip() == "[('flops', 'loaded', ''), ('flops-twin', 'loaded', '')]"


def test_the_doctests_of_the_package(guest):
    guest.run("""
        import doctest
        import lamella
        from lamella_flops import native, twin
        for module in (native, twin):
            result = doctest.testmod(module, extraglobs={"lamella": lamella})
            assert result.attempted >= 4 and result.failed == 0, result
    """)


def native_folder(guest):
    return Path(guest.run("import lamella._C, os; print(os.path.dirname(lamella._C.__file__))").strip())


def test_the_native_layer_in_a_program_without_python(guest, tmp_path):
    """A C++ program that links liblamella alone loads the same library file."""
    lamella = native_folder(guest)
    plugin = guest.run("import lamella_flops.native as n; print(n.LIBRARY)").strip()
    compiler = shutil.which("g++")
    assert compiler, "g++ is one of the packages that Lamella needs"
    source, program = Path(__file__).with_name("flops_program.cpp"), tmp_path / "program"
    headers = ("-I", lamella / "include", "-I", ROOT / "examples/layer_plugin/src")
    run(
        compiler,
        "-std=c++17",
        *headers,
        source,
        lamella / "liblamella.so",
        f"-Wl,-rpath,{lamella}",
        "-o",
        program,
        cwd=tmp_path,
    )
    linked = run("ldd", program, cwd=tmp_path)
    assert "liblamella" in linked and "libpython" not in linked
    out = run(program, lamella / "backends/cpu/liblamella_cpu.so", plugin, cwd=tmp_path)
    assert out.split() == ["idle", "0", "aten::mm", str(2 * 5 * 7 * 3), "aten::mul", "35"]


def test_lamella_names_neither_example():
    """No file of Lamella contains the examples' names."""
    rooms = ["extensions", "core", "dispatcher", "backends", "plugins", "frontend", "cmake"]
    kinds = {".py", ".h", ".cpp", ".cmake", ".json", ".pyi", ".txt"}
    files = [f for room in rooms for f in (ROOT / room).rglob("*") if f.suffix in kinds]
    files += [ROOT / "CMakeLists.txt", ROOT / "pyproject.toml"]
    assert len(files) > 80
    names = ("lamella_flops", "lamella-flops", "lamella_bank", "lamella-bank", "flops-twin")
    assert [(f, n) for f in files for n in names if n in f.read_text()] == []
