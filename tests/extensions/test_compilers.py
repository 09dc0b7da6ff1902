"""Every compiler, standard and string ABI of this machine builds one source; all libraries work in one process."""

import shutil
import subprocess
from pathlib import Path

import lamella
import pytest
from compiled import INCLUDE, STRICT, compile_library, load
from lamella.extensions.toolchain import NEEDED

HERE = Path(__file__).resolve().parent
COMPILERS = [c for c in ("g++", "clang++") if shutil.which(c)]
# With two compilers, the builds pair each compiler with each standard and ABI, and each standard with each ABI.
BUILDS = {
    f"{compiler[:-2]}_{standard}_{abi}": (compiler, f"-std=c++{standard}", f"-D_GLIBCXX_USE_CXX11_ABI={abi}")
    for compiler, standard, abi in (("g++", 17, 0), ("g++", 20, 1), ("clang++", 17, 1), ("clang++", 20, 0))
    if compiler in COMPILERS
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    def build(name):
        compiler, *flags = BUILDS[name]
        flags = (*flags, f"-DNAMESPACE={name}", "-fvisibility=hidden", *STRICT)
        if name == "g_20_1":  # g++ warns of more when it optimizes
            flags = (*flags, "-O2")
        return compile_library(tmp_path_factory, HERE / "typed.cpp", *flags, compiler=compiler)

    return {name: build(name) for name in BUILDS}


def test_the_pages_say_which_compilers_are_new_enough():
    """The pages name the build helper's oldest versions, with which these tests were run."""
    needed = (NEEDED["17"]["gcc"], NEEDED["17"]["clang"])
    assert needed == (NEEDED["20"]["gcc"], NEEDED["20"]["clang"])
    for page in ("build_an_extension.md", "custom_operators_cpp.md"):
        text = " ".join((HERE.parents[1] / "docs" / page).read_text().split())
        assert "(g++ {} or clang {}, or newer)".format(*needed) in text, page


def test_clang_is_there():
    if "clang++" not in COMPILERS:
        pytest.skip("clang++ is not installed: apt-get install clang")


@pytest.mark.long
def test_all_of_them_in_one_process(libraries):
    for path in libraries.values():
        load(path)
    x, y = lamella.tensor([[1.0, -2.0], [3.0, 0.5]]), lamella.tensor([[2.0, 1.0], [-1.0, 4.0]])
    first = None
    for name in BUILDS:
        ops = getattr(lamella.ops, name)
        # arguments and results: strings, lists, vectors, numbers
        word = "a word that is not short at all"
        numbers = (5, None, 0.5, True, 2, word, lamella.int16, "cpu", [1, 2, 3], [0.5], [True, False])
        text = ops.kinds(x, None, [x, y], [None, y], *numbers, lamella.preserve_format, [9])
        same, n, half, yes, short, ints, tensors, number = ops.results(x)
        assert same is x and (n, half, yes, short, ints, number) == (7, 0.5, True, "text", (1, 2), 1 + 2j)
        found = [text, ops.methods(x, y).tolist(), [t.tolist() for t in tensors], ops.scaled(x, 2.0).tolist()]
        first = first or found
        assert found == first and word in text
        # exceptions, from this thread and from others
        for in_parallel in (False, True):
            with pytest.raises(ValueError, match="a value"):
                ops.fails("value", in_parallel)
            with pytest.raises(RuntimeError, match="do not broadcast"):
                ops.fails("operator", in_parallel)
            with pytest.raises(lamella.OutOfMemoryError):
                ops.fails("memory", in_parallel)
        # each library can use the tensors of the others
        assert [len(t.shape) for t in ops.made()][:2] == [2, 2]


@pytest.mark.needs("autograd")
def test_functions_of_different_compilers_meet_in_one_graph(libraries):
    for path in libraries.values():
        load(path)
    x = lamella.tensor([1.0, 2.0], dtype=lamella.float64, requires_grad=True)
    y, slope = x, 1
    for name in BUILDS:
        y = getattr(lamella.ops, name).scaled(y, 0.5)
        slope *= 0.5
    z = sum(getattr(lamella.ops, name).cubed(y, 1, x)[0] for name in BUILDS)
    (grad,) = lamella.autograd.grad(z.sum(), x)
    expected = [len(BUILDS) * 3 * (v * slope) ** 2 * slope for v in (1.0, 2.0)]
    assert grad.tolist() == pytest.approx(expected)


def test_a_stranger_needs_nothing_of_ours_but_the_table(libraries):
    """A library looks up no symbol of Lamella, and exports only its init function."""
    if not shutil.which("nm"):
        pytest.skip("nm is not installed: apt-get install binutils")
    for path in libraries.values():
        lines = subprocess.run(["nm", "-DC", path], capture_output=True, text=True, check=True).stdout.splitlines()
        assert not [line for line in lines if " U " in line and "lamella" in line]
        names = [line.split(" ", 2)[2] for line in lines if line[:1] != " "]
        # The hidden symbols at the section's ends and templates of the standard library are allowed.
        offered = [n for n in names if "lamella" in n and "std::" not in n and not n.startswith("__st")]
        assert offered == ["lamella_plugin_init"], path


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_pointwise_operator(compiler, tmp_path_factory):
    name = f"pointwise_{compiler[:-2]}"
    simd = ("-fopenmp-simd",) if compiler == "g++" else ()  # clang++ would warn of each loop that it cannot vectorize
    flags = (f"-DNAMESPACE={name}", "-O3", *simd, *STRICT)
    load(compile_library(tmp_path_factory, HERE / "clipped.cpp", *flags, compiler=compiler))
    x = lamella.linspace(-2, 2, 4099)
    for dtype in (lamella.float32, lamella.float64):
        assert getattr(lamella.ops, name).clipped(x.to(dtype)).tolist() == x.to(dtype).clamp(-1, 1).tolist()


HEADERS = sorted(h.name for h in (INCLUDE / "lamella").glob("*.h") if h.name not in ("python.h", "pybind.h"))


def complaints(compiler, headers, *flags):
    """Returns a compiler's messages for a file that includes these headers."""
    command = (compiler, "-std=c++17", "-fsyntax-only", "-fopenmp-simd", "-I", INCLUDE, *STRICT, *flags)
    source = "".join(f"#include <lamella/{h}>\n" for h in headers)
    return subprocess.run([*command, "-x", "c++", "-"], input=source, capture_output=True, text=True).stderr


@pytest.mark.sweep
@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_headers_parse_alone(compiler, header):
    """Each header compiles by itself, without the operators unless it needs them; Python's headers are excepted."""
    without = () if header in ("arithmetic.h", "operators.h") else ("-DLAMELLA_NO_OPERATORS",)
    assert not complaints(compiler, [header], *without)


@pytest.mark.sweep
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("backwards", [False, True])
def test_headers_parse_together(compiler, backwards):
    """The headers compile in alphabetical order, reversed, and after the header that includes most of them."""
    headers = HEADERS[::-1] if backwards else HEADERS
    assert not complaints(compiler, headers)
    assert not complaints(compiler, ["extension.h", *headers])
