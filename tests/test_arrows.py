"""Tests of the arrows between rooms: includes, imports and the built libraries depend only on permitted folders."""

from __future__ import annotations

import ast
import importlib.util
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Container, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
ROOMS = ("core", "dispatcher", "operators", "backends", "plugins", "run", "bindings", "frontend", "extensions")

# Maps a file's folder (the longest key that fits) to the folders from which it may include, besides <lamella/...>, the
# standard library and the system. A backend or plugin may use only its own folder. docs/architecture.md has this table.
MAY_INCLUDE = {
    "extensions/include": (),
    "core": ("core",),
    "dispatcher": ("core", "dispatcher"),
    "operators": ("core", "dispatcher", "operators"),
    "frontend": ROOMS,
}
# The rooms whose Python files may use lamella._C and other names with an underscore. "plugins" means the files of the
# manager in plugins/ itself; each folder in it is a plugin, which may not.
MAY_IMPORT_PRIVATE = ("core", "operators", "plugins", "frontend")
ABOVE_CORE = ("lamella.operators", "lamella.backends", "lamella.plugins", "lamella.extensions", "lamella.library",
              "lamella.nn", "lamella.testing", "lamella.utils")  # fmt: skip
# Maps a key that `importer` returns to the modules above that room, which its Python files must not import.
UPWARD = {
    "core": ABOVE_CORE,
    "operators": tuple(m for m in ABOVE_CORE if m != "lamella.operators"),
    "plugins": tuple(m for m in ABOVE_CORE if m != "lamella.plugins"),
    "backends/*": ("lamella.core", "lamella.operators", "lamella.extensions"),
    "plugins/*": ("lamella.core", "lamella.operators", "lamella.backends", "lamella.extensions"),
    "extensions": (),
}
# Names of compiled modules, which import no Python module of this repository.
COMPILED = ("_C", "_python")
# The prefix of the frontend's private modules, which files of other rooms must not import.
INNER = "lamella._"
# The only public headers that may include headers of Python, and of pybind11. A plugin's Python face may include the
# latter, too.
PYTHON_FACE = "extensions/include/lamella/python.h"
PYBIND_FACE = "extensions/include/lamella/pybind.h"


def sources(root: Path, *suffixes: str) -> Iterator[tuple[str, str]]:
    """Yields relative path and text of each file in the rooms."""
    for room in ROOMS:
        for path in sorted((root / room).rglob("*")):
            if path.suffix in suffixes and path.is_file() and "build" not in path.parts:
                yield path.relative_to(root).as_posix(), path.read_text()


def own_folder(path: str) -> str:
    """Returns the room of a file; backends/cpu/x.cpp belongs to backends/cpu, since each backend is its own room."""
    return "/".join(path.split("/")[:2])


def permitted(path: str) -> tuple[str, ...]:
    fitting = [room for room in MAY_INCLUDE if path.startswith(room + "/")]
    return MAY_INCLUDE[max(fitting, key=len)] if fitting else (own_folder(path),)


def beside(root: Path, path: str, target: str) -> str:
    """Resolves an include relative to the file's folder or its parent, since a plugin's sources may be copied."""
    for here in ((root / path).parent, (root / path).parent.parent):
        if (here / target).exists():
            return (here / target).resolve().relative_to(root.resolve()).as_posix()
    return target


def include_faults(root: Path) -> list[str]:
    """Returns an error for each #include that MAY_INCLUDE forbids."""
    faults = []
    for path, text in sources(root, ".h", ".cpp", ".cc", ".hpp", ".cu", ".cuh", ".inc"):
        for bracket, target in INCLUDE.findall(text):
            if target.startswith("lamella/"):
                if bracket != "<":
                    faults.append(f'{path}: "{target}" is public; include <{target}>')
            elif bracket == "<":
                if (root / target).exists() or target.split("/")[0] in ROOMS:
                    faults.append(f"{path}: <{target}> is ours; only <lamella/...> stands in angle brackets")
                if target == "Python.h" and not path.startswith("frontend/") and path != PYTHON_FACE:
                    faults.append(f"{path}: Python is known to the binding only")
                face = path.startswith("frontend/") or re.match(r"plugins/\w+/python/", path)
                if target.startswith("pybind11/") and not face and path != PYBIND_FACE:
                    faults.append(f"{path}: pybind11 is known to the binding only")
            elif not beside(root, path, target).startswith(tuple(folder + "/" for folder in permitted(path))):
                faults.append(f'{path}: "{target}" is not below it; it may include {permitted(path)} and <lamella/...>')
    return faults


def imported(tree: ast.Module) -> Iterator[str]:
    """Yields the modules that a file imports anywhere; for ``from a import b``, both a and a.b."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def uses_private_attribute(tree: ast.Module) -> bool:
    """Returns whether the file uses lamella._C, or another underscored attribute of lamella."""
    return any(
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "lamella"
        and re.match(r"_(?!_)", node.attr)
        for node in ast.walk(tree)
    )


def within(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


def other_plugin(path: str, module: str) -> bool:
    """Returns whether a backend's or plugin's file imports another backend or plugin."""
    room, own = path.split("/")[:2]
    parts = module.split(".")
    public = ("hookimpl", "Plugin", "PluginContext", "contributed", "load", "manager", "settings", "status")
    if parts[:2] not in (["lamella", "plugins"], ["lamella", "backends"]) or len(parts) < 3:
        return False
    return not (parts[1] == room and parts[2] == own) and parts[2] not in public


def importer(path: str) -> str:
    """Returns the key of a file in UPWARD: its room, or "backends/*" or "plugins/*"."""
    room, *rest = path.split("/")
    return f"{room}/*" if room in ("backends", "plugins") and len(rest) > 1 else room


def import_faults(root: Path) -> list[str]:
    """Returns an error for each Python import that UPWARD or MAY_IMPORT_PRIVATE forbids."""
    faults = []
    for path, text in sources(root, ".py"):
        room, tree = importer(path), ast.parse(text)
        modules = set(imported(tree))
        inner = {m for m in modules if m.startswith(INNER)}
        if room in MAY_IMPORT_PRIVATE:
            inner -= {m for m in inner if within(m, "lamella._C")}
        if room != "frontend":
            faults += [f"{path}: imports {m}, which is not public" for m in sorted(inner)]
        if room not in MAY_IMPORT_PRIVATE and uses_private_attribute(tree):
            faults.append(f"{path}: uses an underscored attribute of lamella, which is not public")
        for m in sorted(modules):
            if any(within(m, package) for package in UPWARD.get(room, ())):
                faults.append(f"{path}: imports {m}, which is not below {room}")
            elif room.endswith("/*") and other_plugin(path, m):
                faults.append(f"{path}: imports {m}; plugins meet in the dispatcher")
    return faults


def python_modules(root: Path) -> dict[str, Path]:
    """Returns the rooms' Python files by module name. pyproject.toml maps packages to folders."""
    pairs = re.findall(r'^"(lamella\S*)" = "(\S+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    found = {}
    for package, folder in pairs:
        for path in sorted((root / folder).rglob("*.py")):
            parts = path.relative_to(root / folder).with_suffix("").parts
            name = (*package.split("/"), *(part for part in parts if part != "__init__"))
            found[".".join(name)] = path
    return found


def imported_modules(name: str, path: Path, known: Container[str]) -> Iterator[str]:
    """Yields the modules that a file imports, at the top or in a function, except in a block for type checkers.

    ``from package import x`` imports ``package``, whose file a lazy package runs when x is read, and ``package.x`` if
    that is a module. ``lamella`` itself always runs before its modules, and a package may name its own modules.
    """
    package = name.split(".")[: None if path.stem == "__init__" else -1]
    waiting: list[ast.AST] = [ast.parse(path.read_text())]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            waiting += node.orelse
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                if inner in known:
                    yield inner
                    if base in (name, "lamella"):
                        continue
                if alias.name not in COMPILED:
                    yield base
        waiting += ast.iter_child_nodes(node)


def import_graph(root: Path) -> dict[str, set[str]]:
    """Returns the modules that each of our Python modules imports."""
    known = python_modules(root)
    return {name: {m for m in imported_modules(name, path, known) if m in known} for name, path in known.items()}


def circles(graph: dict[str, set[str]]) -> list[tuple[str, ...]]:
    """Returns the groups of modules that import each other, directly or through others."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = set(graph[start])
        while waiting:
            seen.add(name := waiting.pop())
            waiting |= graph[name] - seen
        return seen

    after = {name: reached(name) for name in graph}
    return sorted({tuple(sorted(m for m in after[n] if n in after[m])) for n in graph if n in after[n]})


# ---- the sources ----


def test_the_rooms_are_there():
    seen = {path.split("/")[0] for path, _ in sources(ROOT, ".h", ".cpp", ".py")}
    assert seen == set(ROOMS)
    assert sum(1 for _ in sources(ROOT, ".h", ".cpp")) > 50


def test_includes_point_down():
    assert include_faults(ROOT) == []


def test_imports_point_down():
    assert import_faults(ROOT) == []


def test_modules_do_not_import_each_other_in_circles():
    graph = import_graph(ROOT)
    assert "lamella._absent" in graph["lamella"] and "lamella.plugins.autograd.api" in graph and len(graph) > 300
    assert circles(graph) == [], (
        "move the noun down, pass the object as an argument, or `import package.module as module` beside that module"
    )


def test_a_planted_circle_is_reported(tmp_path):
    a, b, c = "from .b import x", "def f():\n    from lamella.room.c import x", "from .a import x"
    write(tmp_path, {f"frontend/lamella/room/{n}.py": t for n, t in (("a", a), ("b", b), ("c", c), ("d", a))})
    assert circles(import_graph(tmp_path)) == [("lamella.room.a", "lamella.room.b", "lamella.room.c")]


@pytest.mark.parametrize(
    "line, closes",
    [
        ("import lamella.plugins.room.b as b", False),
        ("from .b import y", False),
        ("from . import _python", False),
        ("from . import b", True),
        ("from . import x", True),
    ],
)
def test_a_name_that_is_read_from_a_package_closes_a_circle(line, closes, tmp_path):
    below = f"if TYPE_CHECKING:\n    from lamella.plugins.room import x\n{line}"
    files = {"__init__": "from lamella.plugins.room import a\nx = 1", "a": below, "b": ""}
    write(tmp_path, {f"plugins/room/{n}.py": t for n, t in files.items()})
    assert circles(import_graph(tmp_path)) == [("lamella.plugins.room", "lamella.plugins.room.a")] * closes


INCLUDE_PLANTS = {
    "core/planted.cpp": '#include "dispatcher/call.h"',
    "core/planted.h": "#include <Python.h>",
    "dispatcher/planted.cpp": '#include "backends/cpu/kernels.h"',
    "operators/planted.cpp": '#include "plugins/autograd/node.h"',
    "backends/cpu/planted.cpp": '#include "core/tensor.h"',
    "backends/cpu/planted.h": '  #  include "dispatcher/meta.h"',
    "backends/cuda/planted.cu": '#include "backends/cpu/loops.h"',
    "backends/meta/planted.cpp": '#include "frontend/binding/python.h"',
    "plugins/profiler/planted.cpp": '#include "plugins/autograd/node.h"',
    "plugins/autograd/planted.cpp": '#include "dispatcher/registry.h"',
    "plugins/autograd/relative.cpp": '#include "../profiler/node.h"',
    "extensions/include/lamella/planted.h": '#include "core/dtype.h"',
    "backends/cpu/quoted.cpp": '#include "lamella/c_api.h"',
    "backends/cpu/angle.cpp": "#include <core/tensor.h>",
    "dispatcher/binding.cpp": "#include <pybind11/pybind11.h>",
    "plugins/autograd/pybind.cpp": "#include <pybind11/pybind11.h>",
}
IMPORT_PLANTS = {
    "backends/cpu/planted.py": "from lamella import _C",
    "backends/cpu/attribute.py": "import lamella\nlamella._C._operators()",
    "backends/cpu/functions.py": "def f():\n    from lamella._creation import tensor",
    "backends/cpu/manager.py": "import lamella.plugins.contributions",
    "backends/cuda/planted.py": "from lamella.backends import cpu",
    "plugins/profiler/planted.py": "import lamella.plugins.autograd",
    "plugins/autograd/planted.py": "from lamella.backends.cpu import register",
    "core/planted.py": "from lamella.plugins import manager",
    "operators/planted.py": "from lamella.backends import cpu",
    "operators/inner.py": "def f():\n    from lamella._creation import tensor",
    "plugins/planted.py": "def f():\n    from lamella.library import Library",
    "plugins/inner.py": "from lamella._absent import Absent",
}
INNOCENT = {
    "core/good.cpp": '#include "core/tensor.h"\n#include <lamella/c_api.h>\n#include <vector>\n#include <omp.h>',
    "dispatcher/good.cpp": '#include "dispatcher/meta.h"\n#include "core/error.h"',
    "operators/good.cpp": '#include "dispatcher/call.h"\n#include "operators/shapes.h"',
    "backends/cpu/good.cpp": '#include "backends/cpu/kernels.h"\n#include <lamella/extension.h>',
    "frontend/binding/good.cpp": '#include <Python.h>\n#include "dispatcher/call.h"\n#include <pybind11/stl.h>',
    "plugins/profiler/python/good.cpp": "#include <pybind11/pybind11.h>",
    "plugins/profiler/good.py": "from lamella.plugins import hookimpl\nimport lamella.plugins.profiler.report",
    "operators/good.py": "from lamella import _C",
    "plugins/good.py": "from lamella import _C\nfrom lamella.plugins import contributions",
}


def write(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text + "\n")


@pytest.mark.parametrize("path", INCLUDE_PLANTS)
def test_planted_include_is_reported(path, tmp_path):
    write(tmp_path, INNOCENT | {path: INCLUDE_PLANTS[path]})
    faults = include_faults(tmp_path)
    assert len(faults) >= 1 and all(f.startswith(path + ":") for f in faults)


@pytest.mark.parametrize("path", IMPORT_PLANTS)
def test_planted_import_is_reported(path, tmp_path):
    write(tmp_path, INNOCENT | {path: IMPORT_PLANTS[path]})
    faults = import_faults(tmp_path)
    assert len(faults) >= 1 and all(f.startswith(path + ":") for f in faults)


def test_innocent_files_are_not_reported(tmp_path):
    write(tmp_path, INNOCENT)
    assert include_faults(tmp_path) == [] and import_faults(tmp_path) == []


# ---- the built libraries ----


def package() -> Path:
    import lamella

    return Path(lamella._C.__file__).parent


def output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def symbols(library: Path) -> str:
    """Returns all symbols that a library defines or needs, dynamic and static."""
    static = subprocess.run(["nm", "-C", library], capture_output=True, text=True).stdout  # empty if stripped
    return output("nm", "-DC", str(library)) + static


def needed(library: Path) -> list[str]:
    return re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-dW", str(library)))


def first_party() -> list[Path]:
    """Returns the libraries of backends and plugins that come with Lamella."""
    return sorted(p for room in ("backends", "plugins") for p in (package() / room).rglob("liblamella_*.so"))


def test_the_checks_see_what_they_look_for():
    """The checks find lamella::core in the library that has it, and liblamella among the binding's libraries."""
    assert first_party()
    assert "lamella::core::" in symbols(package() / "liblamella.so")
    assert any(n.startswith("liblamella.so") for n in needed(Path(package() / binding_name())))


def binding_name() -> str:
    return "_C" + sysconfig.get_config_var("EXT_SUFFIX")


def test_plugins_show_no_symbol_of_the_core():
    for library in first_party():
        names = symbols(library)
        assert "lamella" in names, f"{library.name} has no symbol with lamella in its name"
        for inner in ("lamella::core", "lamella::dispatcher", "lamella::binding"):
            assert inner not in names, f"{library.name} defines or needs {inner}"


def test_plugins_link_nothing_of_ours():
    for library in first_party():
        assert [n for n in needed(library) if "lamella" in n or "python" in n] == [], library.name


def test_plugins_enter_by_the_door_of_strangers():
    for library in first_party():
        exported = output("nm", "-DC", "--defined-only", str(library))
        assert re.search(r" [TW] lamella_plugin_init$", exported, re.MULTILINE), library.name


def test_the_core_library_knows_no_python():
    library = package() / "liblamella.so"
    assert [n for n in needed(library) if "python" in n] == []
    wanted = output("nm", "-D", "--undefined-only", str(library))
    assert not re.search(r"\bU _?Py[A-Z_]", wanted)


def test_the_core_library_knows_no_backend():
    names = symbols(package() / "liblamella.so")
    assert "lamella::cpu" not in names and "dnnl" not in names


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed: apt-get install g++")
def test_a_library_that_uses_the_core_is_reported(tmp_path):
    """The planted library needs a symbol of the core; nm must show that."""
    source = tmp_path / "planted.cpp"
    source.write_text("namespace lamella::core { int planted(); }\nint use() { return lamella::core::planted(); }\n")
    library = tmp_path / "liblamella_planted.so"
    subprocess.run(["g++", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    assert "lamella::core" in symbols(library)


def test_the_package_holds_no_source():
    """The wheel carries the public headers and nothing else of C++."""
    spec = importlib.util.find_spec("lamella")
    folder = Path(spec.submodule_search_locations[0])
    if folder.resolve() == (ROOT / "frontend" / "lamella").resolve():  # in an editable install, the files are elsewhere
        folder = package()
    stray = [p for p in folder.rglob("*") if p.suffix in (".cpp", ".h") and "include" not in p.parts]
    assert stray == []
    assert (folder / "include" / "lamella" / "c_api.h").exists()
