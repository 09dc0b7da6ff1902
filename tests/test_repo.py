"""Tests of rules that linters do not check: device and operator names in code, first lines, lengths, links."""

from __future__ import annotations

import io
import os
import re
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DEVICES = ("cpu", "cuda", "hip", "xpu", "mps")
STRING = re.compile(r'R"\((?:.|\n)*?\)"|"((?:\\.|[^"\\\n])*)"')
# Maps a path to the reason why its code may name a device.
EXCEPTIONS = {
    "frontend/lamella/_torch/": "it imitates torch, whose programs name devices",
    "frontend/lamella/version.py": "attributes of torch.version",
    "plugins/graph/builtins/tensors.cpp": "is_cpu, is_cuda and their kin are properties of torch's tensors",
    "plugins/graph/script/library.py": "cpu() and cuda() are methods of torch's tensors",
    "extensions/locations.py": "it says where CUDA's folders are; its functions and their defaults are torch's",
}


def strip_comments(text: str) -> str:
    """Replaces comments in C++ by spaces, so that lines keep their numbers."""

    def blank(found: re.Match) -> str:
        return found.group(0) if found.group(0).startswith(('"', "R")) else re.sub(r"[^\n]", " ", found.group(0))

    return re.sub(r'R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*(?:.|\n)*?\*/', blank, text)


def device_literals(text: str) -> Iterator[tuple[int, str]]:
    """Yields line and content of each C++ string that is only a device's name, which messages for users are not."""
    code = strip_comments(text)
    for found in STRING.finditer(code):
        content = found.group(1) or ""
        if re.fullmatch(rf"({'|'.join(DEVICES)})(:\d+)?", content):
            yield code.count("\n", 0, found.start()) + 1, content


def python_device_literals(text: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.STRING and token.string.strip("\"'") in DEVICES:
            yield token.start[0], token.string


def above_the_backends(root: Path) -> Iterator[Path]:
    for room in ("core", "dispatcher", "operators", "plugins"):
        yield from sorted(p for p in (root / room).rglob("*") if p.suffix in (".cpp", ".h", ".py"))
    for room in ("frontend/lamella", "extensions"):
        yield from sorted((root / room).rglob("*.py"))


def findings(root: Path, but: tuple[str, ...] = tuple(EXCEPTIONS)) -> list[str]:
    found = []
    for path in above_the_backends(root):
        name = path.relative_to(root).as_posix()
        literals = python_device_literals if path.suffix == ".py" else device_literals
        if not name.startswith(but):
            found += [f"{name}:{line}: {text!r}" for line, text in literals(path.read_text())]
    return found


def test_no_device_name_above_the_backends():
    assert findings(ROOT) == [], "ask for the property (is_host, the default device) instead of the name"


def test_no_exception_without_need():
    found = findings(ROOT, but=())
    assert [name for name in EXCEPTIONS if not any(f.startswith(name) for f in found)] == []


@pytest.mark.parametrize(
    "name, text",
    [
        ("dispatcher/a.cpp", 'if (name == "cpu") return 1;'),
        ("operators/b.cpp", 'static const Callee c("x", "cuda:0");'),
        ("core/c.h", 'constexpr const char* host = "cpu";'),
        ("plugins/p/d.py", 'x = t.to("cuda")'),
        ("frontend/lamella/nn/e.py", 'x = t.to("cpu")'),
        ("extensions/f.py", "x = 'cuda'"),
    ],
)
def test_a_planted_name_is_found(name, text, tmp_path):
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_text(f"// a comment\n{text}\n" if not name.endswith(".py") else f"# a comment\n{text}\n")
    assert len(findings(tmp_path)) == 1 and findings(tmp_path)[0].startswith(f"{name}:2:")


def test_text_for_people_is_no_finding(tmp_path):
    (tmp_path / "dispatcher").mkdir()
    text = '// "cpu" in a comment\n/* "cuda" */\nraise("move it with .to(\'cpu\')");\nauto s = "a \\"cpu\\" quoted";\n'
    (tmp_path / "dispatcher" / "a.cpp").write_text(text)
    assert findings(tmp_path) == []


# ---- the mechanism names no operator ----

# Maps a literal of the dispatcher that is also an operator's name to its meaning there.
OTHER_MEANINGS = {
    "complex": "a class of dtypes, a type of schemas",
    "all": "all classes of dtypes",
    "index": "an argument",
}


def names_of_the_catalogue() -> set[str]:
    """Returns the names of operators with and without overloads, and the names of categories."""
    import lamella

    found = set()
    for op in lamella._C._operators():
        if op["name"].startswith("aten::"):
            name = op["name"].removeprefix("aten::")
            found |= {name, f"{name}.{op['overload']}", op["category"]}
    return found - {""}


def operator_literals(text: str, names: set[str]) -> Iterator[tuple[int, str]]:
    """Yields line and content of each C++ string that names an operator, a category or the catalogue's namespace."""
    code = strip_comments(text)
    for found in STRING.finditer(code):
        content = found.group(1) or ""
        if content.startswith("aten::") or (content in names and content not in OTHER_MEANINGS):
            yield code.count("\n", 0, found.start()) + 1, content


def mechanism_faults(root: Path, names: set[str]) -> list[str]:
    files = sorted(p for p in (root / "dispatcher").rglob("*") if p.suffix in (".cpp", ".h"))
    found = [(p, line, text) for p in files for line, text in operator_literals(p.read_text(), names)]
    return [f"{p.relative_to(root).as_posix()}:{line}: {text!r}" for p, line, text in found]


def test_the_mechanism_names_no_operator():
    assert mechanism_faults(ROOT, names_of_the_catalogue()) == [], "declare a flag, or hand in a function"


@pytest.mark.parametrize("literal", ["aten::mul", "copy_", "to.device", "pointwise"])
def test_a_planted_operator_is_found(literal, tmp_path):
    (tmp_path / "dispatcher").mkdir()
    (tmp_path / "dispatcher" / "a.cpp").write_text(f'// "clone"\nauto* op = find("{literal}");\n')
    assert mechanism_faults(tmp_path, names_of_the_catalogue()) == [f"dispatcher/a.cpp:2: {literal!r}"]


# ---- kernels name their arguments ----

# Maps a file whose functions serve many operators, and so read arguments by number, to these operators.
ANY_ARGUMENTS = {
    "operators/foreach.cpp": "operators over lists, whose first argument is the list that is written",
    "backends/cpu/updates.cpp": "optimizers' updates, whose first argument is the list of parameters",
    "backends/cuda/updates.cpp": "the same",
}


def numbered_arguments(root: Path) -> list[str]:
    """Returns each place where an operator's function reads `args[3]`; in a typed function, arguments have names."""
    found = []
    for room in ("operators", "backends/cpu", "backends/cuda"):
        for path in sorted(p for p in (root / room).rglob("*") if p.suffix in (".cpp", ".h")):
            name, code = path.relative_to(root).as_posix(), strip_comments(path.read_text())
            if name not in ANY_ARGUMENTS:
                uses = re.finditer(r"(?<!lamella_value )\bargs\[\d+\]", code)
                found += [f"{name}:{code.count(chr(10), 0, use.start()) + 1}: {use[0]}" for use in uses]
    return found


def test_no_argument_has_a_number():
    assert numbered_arguments(ROOT) == [], "write a typed function; see Note [Types] in <lamella/kernel.h>"


def test_a_planted_number_is_found(tmp_path):
    (tmp_path / "operators").mkdir()
    text = (
        "// args[0]\nconst lamella_value args[2] = {a, b};\nint f(V* args, int k) { return args[12].i + args[k].i; }\n"
    )
    (tmp_path / "operators" / "a.cpp").write_text(text)
    assert numbered_arguments(tmp_path) == ["operators/a.cpp:3: args[12]"]


def opening(path: Path) -> str:
    """Returns the first line that is neither empty nor `#!`."""
    lines = path.read_text().splitlines()
    return next((line for line in lines if line.strip() and not line.startswith("#!")), "")


def tracked(*suffixes: str) -> Iterator[Path]:
    rooms = (
        "core",
        "dispatcher",
        "operators",
        "backends",
        "plugins",
        "run",
        "bindings",
        "extensions",
        "frontend",
        "tools",
        "tests",
        "benchmarks",
        "examples",
    )
    for room in rooms:
        for path in sorted((ROOT / room).rglob("*")):
            if path.suffix in suffixes and not {"build", ".venv"} & set(path.parts) and "egg-info" not in str(path):
                yield path


def test_each_file_opens_with_what_it_is():
    """The first line must be a docstring or a comment, except in a .cpp with a header of the same name."""
    silent = []
    for path in tracked(".py", ".h", ".cpp"):
        start = opening(path)
        said = start.startswith(('"""', 'r"""')) if path.suffix == ".py" else start.startswith(("//", "/*"))
        if not said and not (path.suffix == ".cpp" and path.with_suffix(".h").exists()) and start:
            silent.append(path.relative_to(ROOT).as_posix())
    assert silent == []


def is_generated(text: str) -> bool:
    return "Made by `make stubs`" in text.partition("\n")[0]


def test_no_file_is_a_growing_one():
    """No file may have more than 500 lines, except those generated from the registry."""
    long = []
    for room in ("core", "dispatcher", "operators", "plugins", "backends", "run", "bindings", "extensions", "frontend"):
        for path in sorted((ROOT / room).rglob("*")):
            text = path.read_text() if path.suffix in (".py", ".h", ".cpp") else ""
            if len(text.splitlines()) > 500 and not is_generated(text):
                long.append(path.relative_to(ROOT).as_posix())
    assert long == []


def links(page: Path) -> set[Path]:
    """Returns the targets of a page's links inside the repository."""
    targets = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text())
    return {(page.parent / target).resolve() for target in targets}


def test_every_page_is_reached_from_the_readme():
    reached, waiting = set(), {ROOT / "README.md"}
    while waiting:
        page = waiting.pop()
        reached.add(page)
        waiting |= {target for target in links(page) if target.suffix == ".md"} - reached
    pages = {ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "operators").glob("*.md")}
    assert sorted(p.name for p in pages - reached) == []


def test_links_lead_to_files_that_are_there():
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *(p for p in tracked(".md"))]
    assert len(pages) > 15
    assert sorted(f"{p.name}: {to}" for p in pages for to in links(p) if not to.exists()) == []


@pytest.fixture(scope="module")
def lint():
    """Returns the commands of `make lint`."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no checkout, so there is no list of its files")
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS")}
    return subprocess.run(["make", "-n", "lint"], cwd=ROOT, env=env, capture_output=True, text=True, check=True).stdout


HOOKS = (ROOT / ".pre-commit-config.yaml").read_text()
C_FAMILY = (".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".inl", ".ipp", ".tpp")


def test_hooks_before_a_commit_have_the_versions_of_lint(lint):
    """The file of pre-commit must be valid, and pin the versions that `make lint` pins."""
    hooks = dict(re.findall(r"repo: \S+/(?:mirrors-)?([\w-]+?)(?:-pre-commit)?\n +rev: v(\S+)", HOOKS))
    pinned = dict(re.findall(r"\b(ruff|clang-format)==(\S+)", lint))
    assert hooks == pinned and len(pinned) == 2
    assert "pre-commit validate-config .pre-commit-config.yaml\n" in lint


def test_hooks_before_a_commit_format_the_files_of_lint(lint):
    [listed] = re.findall(r"^(git ls-files .*?) \|", lint, re.MULTILINE)
    [excluded] = re.findall(r"id: clang-format\n +types_or: \[c, c\+\+\]\n +exclude: (\S+)", HOOKS)

    def output(command):
        return subprocess.run(command, cwd=ROOT, shell=True, capture_output=True, text=True, check=True).stdout.split()

    formatted = {f for f in output("git ls-files") if f.endswith(C_FAMILY) and not re.search(excluded, f)}
    assert formatted == set(output(listed)) and "examples/c_program/twice.c" in formatted
