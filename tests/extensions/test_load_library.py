"""``lamella.ops.load_library``: libraries that are already built, and two versions of one under different names."""

import shutil
import sys

import lamella
import pytest
from children import run
from native import library

# Each version is named after the number by which it multiplies; its `scaled` calls its own `helper` by name.
VERSION = """
#include <lamella/extension.h>
using lamella::Tensor;
LAMELLA_LIBRARY_IMPL(versions, cpu, m) {
  m.impl("versions::fast", [](const Tensor& x) { return x * NUMBER; });
}
LAMELLA_LIBRARY_FRAGMENT(versions, m) {
  m.def("scaled(Tensor x) -> Tensor", [](const Tensor& x) {
    static const lamella::Operator<Tensor(const Tensor&)> helper("versions::helper");
    return helper(x);
  });
}
LAMELLA_LIBRARY(versions, m) {
  m.def("helper(Tensor x) -> Tensor", [](const Tensor& x) { return x * NUMBER; });
  m.def("fast(Tensor x) -> Tensor");
  m.def(" versions::sloped(Tensor x) -> Tensor", [](const Tensor& x) { return x.clone(); });
  m.derivative("sloped", "x: versions::helper(grad)");
  m.def((std::string("called_") + m.ns() + "() -> int").c_str(), [] { return int64_t{NUMBER}; });
}
"""
SLIM = """
#include <lamella/library.h>
static lamella_status twice(lamella_frame*, const lamella_value* args, lamella_value* rets) {
  const lamella_value in[3] = {args[0], args[0], lamella::value(1)};
  return lamella::api().call(nullptr, lamella::api().find_operator("aten::add", "Tensor"), in, 3, rets, 1);
}
"""


@pytest.fixture(scope="module")
def versions(tmp_path_factory):
    """Builds both versions; returns their files by number."""
    folder = tmp_path_factory.mktemp("versions")

    def build(n):
        flags = ("-std=c++17", "-fvisibility=hidden", "-O0", f"-DNUMBER={n}", f'-DLAMELLA_PLUGIN_NAME="v{n}"')
        return library(VERSION, folder / f"v{n}.so", *flags, compiler="g++")

    return {n: build(n) for n in (2, 3)}


def slim(blocks, path):
    return library(SLIM + blocks, path, "-std=c++17", "-O0", compiler="g++")


def block(ns, name="twice", kind=""):
    return (
        f'LAMELLA_LIBRARY{kind}({ns}, m) {{ m.define("{name}(Tensor x) -> Tensor").impl("{name}", "cpu", twice); }}\n'
    )


@pytest.mark.long
def test_two_versions_in_one_process(versions, tmp_path):
    first = lamella.ops.load_library(versions[2])
    assert first is lamella.ops.versions and lamella.ops.load_library(versions[2]) is first
    with pytest.raises(RuntimeError, match="versions.* defined by v2; v3 cannot define it too"):
        lamella.ops.load_library(versions[3])
    second = lamella.ops.load_library(versions[3], namespace="versions_v2")
    assert second is lamella.ops.versions_v2 is lamella.ops.load_library(str(versions[3]))
    x = lamella.tensor([1.0])
    for _ in range(2):  # the calls alternate, so that a call of the other's helper would show
        for ops, number in ((first, 2), (second, 3)):
            assert [f(x).item() for f in (ops.helper, ops.scaled, ops.fast)] == [number] * 3
    assert first.called_versions() == 2 and second.called_versions_v2() == 3
    assert dir(first) == ["called_versions", "fast", "helper", "scaled", "sloped"]
    assert dir(second) == ["called_versions_v2", "fast", "helper", "scaled", "sloped"]

    if hasattr(lamella, "autograd"):
        for ops, number in ((first, 2), (second, 3)):
            leaf = lamella.ones(1, requires_grad=True)
            ops.sloped(leaf).sum().backward()
            assert leaf.grad.item() == number

    with pytest.raises(RuntimeError, match="is loaded already, as 'versions'; .*'mine' too, load a copy of the file"):
        lamella.ops.load_library(versions[2], namespace="mine")
    copy = shutil.copy(versions[2], tmp_path / "copy.so")
    with pytest.raises(RuntimeError, match="versions_v2.* defined by v3; v2 cannot define it too"):
        lamella.ops.load_library(copy, namespace="versions_v2")
    assert lamella.ops.load_library(copy, namespace="versions_again").scaled(x).item() == 2


def test_what_is_remembered(tmp_path, monkeypatch):
    path = slim(block("remembered"), tmp_path / "remembered.so")
    (tmp_path / "link.so").symlink_to(path)
    monkeypatch.chdir(tmp_path)
    for name in ("remembered.so", "link.so", path):
        assert lamella.ops.load_library(name).twice(lamella.tensor([1])).tolist() == [2]
    assert str(path.resolve()) in lamella.ops.loaded_libraries
    assert not any(name.endswith("link.so") for name in lamella.ops.loaded_libraries)


def test_several_namespaces_and_none(tmp_path):
    blocks = block("several_a") + block("several_b") + block("several_a", "more", "_FRAGMENT")
    path = slim(blocks, tmp_path / "several.so")
    assert lamella.ops.load_library(path) == (lamella.ops.several_a, lamella.ops.several_b)
    only = 'LAMELLA_LIBRARY_IMPL(several_b, meta, m) { m.impl("twice", "meta", twice); }\n'
    assert lamella.ops.load_library(slim(only, tmp_path / "only.so")) is None


MANY = """
#include <lamella/library.h>
#include <unistd.h>
static lamella_status get(lamella_frame*, void*, lamella_tensor*, lamella_value* out) {
  *out = lamella::value(int64_t{1});
  return LAMELLA_OK;
}
LAMELLA_LIBRARY(many_attributes, m) {
  for (int i = 0; i < 200; i++) {
    usleep(200);
    m.attribute(("many_" + std::to_string(i)).c_str(), get);
  }
}
"""


def test_a_load_and_a_thread_that_looks_things_up_wait_for_each_other_in_one_order(tmp_path):
    """Adding attributes of Tensor takes the interpreter's lock while holding the registry's; a look-up that holds the
    interpreter's lock takes the registry's. They must not deadlock."""
    path = library(MANY, tmp_path / "many.so", "-std=c++17", "-O0", compiler="g++")
    run(
        sys.executable,
        "-c",
        f"""if True:
        import lamella, threading
        done = False
        def looks():
            while not done:
                lamella._C._attribute_owner("nobody")
        thread = threading.Thread(target=looks, daemon=True)
        thread.start()
        lamella.ops.load_library({str(path)!r})
        done = True
        thread.join()
        assert lamella.ones(1).many_199 == 1
        """,
        cwd=tmp_path,
        timeout=60,
    )


def test_what_cannot_be_loaded(tmp_path):
    before = set(lamella.ops.loaded_libraries)
    with pytest.raises(FileNotFoundError, match="load_library: there is no file .*missing.so"):
        lamella.ops.load_library(tmp_path / "missing.so")
    plain = library("int nothing;", tmp_path / "plain.so", "-I.", headers=tmp_path)
    with pytest.raises(RuntimeError, match="no stamp"):
        lamella.ops.load_library(plain)
    (tmp_path / "text.so").write_text("#!/bin/sh\n")
    with pytest.raises(RuntimeError, match="no ELF file"):
        lamella.ops.load_library(tmp_path / "text.so")
    with pytest.raises(TypeError):
        lamella.ops.load_library(None)
    path = slim(block("well_named"), tmp_path / "named.so")
    with pytest.raises(ValueError, match="'ns' must be an identifier, got 'a b'"):
        lamella.ops.load_library(path, namespace="a b")
    assert lamella.ops.loaded_libraries == before
    assert lamella.ops.load_library(path) is lamella.ops.well_named


LOOKS = """
#include <lamella/extension.h>
static int64_t found(const char* ns) {
  return lamella::api().find_operator((std::string(ns) + "::twice").c_str(), "") != nullptr;
}
LAMELLA_LIBRARY(looks, m) {
  m.define("twice(Tensor x) -> Tensor").impl("looks::twice", "cpu", twice);
  static const int64_t written = found("looks"), chosen = found(lamella::api().library_namespace(m.handle()));
  m.def("then() -> int[]", [] { return std::vector<int64_t>{written, chosen}; });
  m.def("now() -> int[]", [] { return std::vector<int64_t>{found("looks"), found("looks_v2")}; });
}
"""


def test_a_look_up_means_the_same_in_the_init_function_and_after_it(tmp_path):
    """Look-ups use names as written; registrations through the library go into the chosen namespace."""
    ops = lamella.ops.load_library(slim(LOOKS, tmp_path / "looks.so"), namespace="looks_v2")
    assert ops.then() == ops.now() == (0, 1)
    assert ops.twice(lamella.tensor([1])).tolist() == [2]


def test_a_plugin_that_fails_half_way_leaves_nothing_of_its_native_library(tmp_path):
    """A plugin fails after loading its library: its operators are withdrawn, and a second try can define them again."""
    from lamella.plugins.manager import Plugin, PluginContext

    path = slim(block("half"), tmp_path / "half.so")
    for _ in range(2):
        context = PluginContext(Plugin("half", "plugin", "half"))
        names, undone = vars(lamella).copy(), []
        context.contribute("lamella", {"half_way": len})
        context.load_library(path)
        context.library("half").define("thrice(Tensor x) -> Tensor")
        context._owner.own(lambda undone=undone: undone.append("half_way" in vars(lamella)))
        assert lamella.ops.half.twice(lamella.tensor([1])).tolist() == [2]
        context.withdraw()
        assert undone == [True] and vars(lamella) == names  # the latest registration was withdrawn first
        assert not [o for o in lamella._C._operators() if o["name"].startswith("half::")]
        with pytest.raises(AttributeError, match="no operator half::twice"):
            lamella.ops.half.twice(lamella.tensor([1]))
    lamella.ops.load_library(path)  # the program has loaded it, so withdrawing a plugin does not unload it
    context = PluginContext(Plugin("half", "plugin", "half"))
    context.load_library(path)
    context.withdraw()
    assert lamella.ops.half.twice(lamella.tensor([1])).tolist() == [2]
    with pytest.raises(RuntimeError, match="closed"):
        context.library("half")


@pytest.mark.parametrize("part", [0.05, 0.1, 0.5])
def test_a_library_that_was_cut_off_is_refused(tmp_path, part):
    """The system's loader would map the missing part, and the process would die by SIGBUS."""
    whole = slim(block("cut"), tmp_path / "whole.so").read_bytes()
    cut = tmp_path / "cut.so"
    cut.write_bytes(whole[: int(len(whole) * part)])
    with pytest.raises(RuntimeError, match="cut.so (is cut off: the file ends after|carries no stamp)"):
        lamella.ops.load_library(cut)
