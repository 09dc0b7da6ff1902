"""``lattis.ops.load_library``: libraries that are built already, and two versions of one under names of their own."""

import shutil
import sys

import lattis
import pytest
from children import run
from native import library

# Two versions: each is called by the number that it multiplies by. `scaled` calls its own `helper`, by name.
VERSION = """
#include <lattis/extension.h>
using lattis::Tensor;
LATTIS_LIBRARY_IMPL(versions, cpu, m) {
  m.impl("versions::fast", [](const Tensor& x) { return x * NUMBER; });
}
LATTIS_LIBRARY_FRAGMENT(versions, m) {
  m.def("scaled(Tensor x) -> Tensor", [](const Tensor& x) {
    static const lattis::Operator<Tensor(const Tensor&)> helper("versions::helper");
    return helper(x);
  });
}
LATTIS_LIBRARY(versions, m) {
  m.def("helper(Tensor x) -> Tensor", [](const Tensor& x) { return x * NUMBER; });
  m.def("fast(Tensor x) -> Tensor");
  m.def(" versions::sloped(Tensor x) -> Tensor", [](const Tensor& x) { return x.clone(); });
  m.derivative("sloped", "x: versions::helper(grad)");
  m.def((std::string("called_") + m.ns() + "() -> int").c_str(), [] { return int64_t{NUMBER}; });
}
"""
SLIM = """
#include <lattis/library.h>
static lattis_status twice(lattis_frame*, const lattis_value* args, lattis_value* rets) {
  const lattis_value in[3] = {args[0], args[0], lattis::value(1)};
  return lattis::api().call(nullptr, lattis::api().find_operator("aten::add", "Tensor"), in, 3, rets, 1);
}
"""


@pytest.fixture(scope="module")
def versions(tmp_path_factory):
    """The two files, by their numbers."""
    folder = tmp_path_factory.mktemp("versions")

    def build(n):
        flags = ("-std=c++17", "-fvisibility=hidden", "-O0", f"-DNUMBER={n}", f'-DLATTIS_PLUGIN_NAME="v{n}"')
        return library(VERSION, folder / f"v{n}.so", *flags, compiler="g++")

    return {n: build(n) for n in (2, 3)}


def slim(blocks, path):
    return library(SLIM + blocks, path, "-std=c++17", "-O0", compiler="g++")


def block(ns, name="twice", kind=""):
    return f'LATTIS_LIBRARY{kind}({ns}, m) {{ m.define("{name}(Tensor x) -> Tensor").impl("{name}", "cpu", twice); }}\n'


def test_two_versions_in_one_process(versions, tmp_path):
    first = lattis.ops.load_library(versions[2])
    assert first is lattis.ops.versions and lattis.ops.load_library(versions[2]) is first
    with pytest.raises(RuntimeError, match="versions.* defined by v2; v3 cannot define it too"):
        lattis.ops.load_library(versions[3])
    second = lattis.ops.load_library(versions[3], namespace="versions_v2")
    assert second is lattis.ops.versions_v2 is lattis.ops.load_library(str(versions[3]))
    x = lattis.tensor([1.0])
    for _ in range(2):  # in turns, so that neither has the other's
        for ops, number in ((first, 2), (second, 3)):
            assert [f(x).item() for f in (ops.helper, ops.scaled, ops.fast)] == [number] * 3
    assert first.called_versions() == 2 and second.called_versions_v2() == 3
    assert dir(first) == ["called_versions", "fast", "helper", "scaled", "sloped"]
    assert dir(second) == ["called_versions_v2", "fast", "helper", "scaled", "sloped"]

    if hasattr(lattis, "autograd"):
        for ops, number in ((first, 2), (second, 3)):
            leaf = lattis.ones(1, requires_grad=True)
            ops.sloped(leaf).sum().backward()
            assert leaf.grad.item() == number

    with pytest.raises(RuntimeError, match="is loaded already, as 'versions'; .*'mine' too, load a copy of the file"):
        lattis.ops.load_library(versions[2], namespace="mine")
    copy = shutil.copy(versions[2], tmp_path / "copy.so")
    with pytest.raises(RuntimeError, match="versions_v2.* defined by v3; v2 cannot define it too"):
        lattis.ops.load_library(copy, namespace="versions_v2")
    assert lattis.ops.load_library(copy, namespace="versions_again").scaled(x).item() == 2


def test_what_is_remembered(tmp_path, monkeypatch):
    path = slim(block("remembered"), tmp_path / "remembered.so")
    (tmp_path / "link.so").symlink_to(path)
    monkeypatch.chdir(tmp_path)
    for name in ("remembered.so", "link.so", path):
        assert lattis.ops.load_library(name).twice(lattis.tensor([1])).tolist() == [2]
    assert str(path.resolve()) in lattis.ops.loaded_libraries
    assert not any(name.endswith("link.so") for name in lattis.ops.loaded_libraries)


def test_several_namespaces_and_none(tmp_path):
    blocks = block("several_a") + block("several_b") + block("several_a", "more", "_FRAGMENT")
    path = slim(blocks, tmp_path / "several.so")
    assert lattis.ops.load_library(path) == (lattis.ops.several_a, lattis.ops.several_b)
    only = 'LATTIS_LIBRARY_IMPL(several_b, meta, m) { m.impl("twice", "meta", twice); }\n'
    assert lattis.ops.load_library(slim(only, tmp_path / "only.so")) is None


MANY = """
#include <lattis/library.h>
#include <unistd.h>
static lattis_status get(lattis_frame*, void*, lattis_tensor*, lattis_value* out) {
  *out = lattis::value(int64_t{1});
  return LATTIS_OK;
}
LATTIS_LIBRARY(many_attributes, m) {
  for (int i = 0; i < 200; i++) {
    usleep(200);
    m.attribute(("many_" + std::to_string(i)).c_str(), get);
  }
}
"""


def test_a_load_and_a_thread_that_looks_things_up_wait_for_each_other_in_one_order(tmp_path):
    """Attributes of Tensor take the interpreter's lock under the registry's; a lookup holds the first and wants the
    second."""
    path = library(MANY, tmp_path / "many.so", "-std=c++17", "-O0", compiler="g++")
    run(
        sys.executable,
        "-c",
        f"""if True:
        import lattis, threading
        done = False
        def looks():
            while not done:
                lattis._C._attribute_owner("nobody")
        thread = threading.Thread(target=looks, daemon=True)
        thread.start()
        lattis.ops.load_library({str(path)!r})
        done = True
        thread.join()
        assert lattis.ones(1).many_199 == 1
        """,
        cwd=tmp_path,
        timeout=60,
    )


def test_what_cannot_be_loaded(tmp_path):
    before = set(lattis.ops.loaded_libraries)
    with pytest.raises(FileNotFoundError, match="load_library: there is no file .*missing.so"):
        lattis.ops.load_library(tmp_path / "missing.so")
    plain = library("int nothing;", tmp_path / "plain.so", "-I.", headers=tmp_path)
    with pytest.raises(RuntimeError, match="no stamp"):
        lattis.ops.load_library(plain)
    (tmp_path / "text.so").write_text("#!/bin/sh\n")
    with pytest.raises(RuntimeError, match="no ELF file"):
        lattis.ops.load_library(tmp_path / "text.so")
    with pytest.raises(TypeError):
        lattis.ops.load_library(None)
    path = slim(block("well_named"), tmp_path / "named.so")
    with pytest.raises(ValueError, match="'ns' must be an identifier, got 'a b'"):
        lattis.ops.load_library(path, namespace="a b")
    assert lattis.ops.loaded_libraries == before
    assert lattis.ops.load_library(path) is lattis.ops.well_named
