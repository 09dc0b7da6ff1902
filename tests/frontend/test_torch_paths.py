"""Import paths and small names of torch: functional, storage, dlpack, weak references, model_zoo, collect_env, cuda."""

import ctypes
import gc
import hashlib
import json
import subprocess
import sys
import textwrap
import warnings

import children
import lamella
import numpy as np
import pytest
from lamella.utils import collect_env, dlpack, model_zoo, weak


def test_paths_are_the_functions_of_the_namespace():
    import lamella.functional
    import lamella.storage

    for name in lamella.functional.__all__:
        assert getattr(lamella.functional, name) is getattr(lamella, name)
    assert {"einsum", "unique", "meshgrid", "split", "norm"} <= set(lamella.functional.__all__)
    assert lamella.storage.UntypedStorage is lamella.UntypedStorage and lamella.storage.TypedStorage
    with pytest.raises(AttributeError, match="no attribute 'no_such'"):
        lamella.functional.no_such  # noqa: B018


def test_importing_lamella_runs_none_of_the_files(tmp_path):
    program = """
    import sys, lamella, lamella.utils
    late = ["functional", "storage", "utils.benchmark", "utils.flop_counter", "utils.weak", "utils.dlpack", "cuda.nvtx",
            "cuda.memory", "nn.attention.flex_attention", "utils.collect_env"]
    run = [n for n in late if type(sys.modules.get(f"lamella.{n}")).__name__ == "module"]
    assert not run, run
    assert not {"statistics", "timeit", "lamella._torch.run.outlook", "lamella._torch.run.table"} & {
        n for n in sys.modules}
    """
    children.run(sys.executable, "-c", textwrap.dedent(program), cwd=tmp_path)


def test_dlpack_to_numpy_and_back():
    class Capsule:  # numpy takes an object with the two methods
        def __init__(self, tensor):
            self.tensor = tensor

        def __dlpack__(self, **wishes):
            return dlpack.to_dlpack(self.tensor)

        def __dlpack_device__(self):
            return self.tensor.__dlpack_device__()

    x = lamella.arange(6.0).view(2, 3)
    array = np.from_dlpack(Capsule(x))
    assert array.tolist() == x.tolist() and array.__array_interface__["data"][0] == x.data_ptr()
    capsule = dlpack.to_dlpack(x)
    again = dlpack.from_dlpack(capsule)
    again[0, 0] = 9
    assert x[0, 0] == 9
    with pytest.raises((ValueError, RuntimeError, BufferError, TypeError)):
        dlpack.from_dlpack(capsule)  # it has been consumed
    with pytest.raises(TypeError, match="'tensor' must be a Tensor, got list"):
        dlpack.to_dlpack([1])
    assert dlpack.DLDeviceType(x.__dlpack_device__()[0]).name == "kDLCPU"


class TestWeak:
    def test_keys_are_compared_by_identity_and_go_with_their_tensors(self):
        held = weak.WeakTensorKeyDictionary()
        x, y = lamella.ones(2), lamella.ones(2)
        held[x], held[y] = "x", "y"
        assert held[x] == "x" and held[y] == "y" and len(held) == 2 and lamella.ones(2) not in held
        assert sorted(held.values()) == ["x", "y"] and {id(k) for k in held} == {id(x), id(y)}
        del x
        gc.collect()
        assert len(held) == 1 and list(held.values()) == ["y"] and held.pop(y) == "y" and not held

    def test_as_a_mapping(self):
        class Node:
            pass

        a, b = Node(), Node()
        held = weak.WeakIdKeyDictionary({a: 1})
        assert held | {b: 2} == {a: 1, b: 2} and held.copy() == held and 3 not in held
        assert held.setdefault(a, 5) == 1 and held.get(b) is None
        held |= {b: 3}
        assert dict(held.items()) == {a: 1, b: 3} and len(held.keyrefs()) == 2
        del held[a]
        with pytest.raises(KeyError):
            held[a]

    def test_a_key_may_go_while_others_are_read(self):
        tensors = [lamella.ones(1) for _ in range(5)]
        held = weak.WeakTensorKeyDictionary({t: i for i, t in enumerate(tensors)})
        seen = 0
        for _ in held:
            tensors.clear()
            seen += 1
        assert seen < 5 and len(held) <= 1

    def test_references(self):
        x = lamella.ones(1)
        one, two = weak.WeakIdRef(x), weak.WeakIdRef(x)
        assert one == two and hash(one) == hash(two) and one() is x
        ref = weak.TensorWeakRef(x)
        assert ref() is x
        del x
        gc.collect()
        assert one() is None and ref() is None and one != two and one == one
        with pytest.raises(TypeError, match="must be a Tensor, got int"):
            weak.TensorWeakRef(1)


def test_load_url(tmp_path, monkeypatch):
    weights = {"w": lamella.arange(3)}
    lamella.save(weights, tmp_path / "raw.pt", format="torch")
    digest = hashlib.sha256((tmp_path / "raw.pt").read_bytes()).hexdigest()
    name = f"net-{digest[:8]}.pt"
    (tmp_path / name).write_bytes((tmp_path / "raw.pt").read_bytes())
    url = f"https://models.example/{name}"
    assert model_zoo.load_url(url, tmp_path, check_hash=True)["w"].tolist() == [0, 1, 2]
    assert model_zoo.load_url((tmp_path / "raw.pt").as_uri(), tmp_path / "empty")["w"].tolist() == [0, 1, 2]
    assert model_zoo.load_url("https://models.example/x", tmp_path, file_name="raw.pt", map_location="meta")[
        "w"
    ].is_meta
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "home"))
    (tmp_path / "home/hub/checkpoints").mkdir(parents=True)
    (tmp_path / "home/hub/checkpoints" / name).write_bytes((tmp_path / "raw.pt").read_bytes())
    assert list(model_zoo.load_url(url)) == ["w"]
    with pytest.raises(NotImplementedError, match=r"downloads nothing, and there is no file .*missing\.pt; fetch"):
        model_zoo.load_url("https://models.example/missing.pt", tmp_path)
    (tmp_path / "net-00000000.pt").write_bytes((tmp_path / "raw.pt").read_bytes())
    with pytest.raises(RuntimeError, match="begins with .* and its name says 00000000"):
        model_zoo.load_url("https://models.example/net-00000000.pt", tmp_path, check_hash=True)


def test_collect_env(tmp_path):
    text = children.run(sys.executable, "-m", "lamella.utils.collect_env", cwd=tmp_path)
    assert f"Lamella version: {lamella.__version__}" in text and f"Python version: {sys.version.split()[0]}" in text
    info = collect_env.get_env_info()
    gcc = collect_env.run(["gcc", "-dumpfullversion"])
    assert gcc is None or info.gcc_version.endswith(gcc)
    assert any(p.startswith("numpy==" + np.__version__) for p in info.pip_packages)
    missing = collect_env.pretty_str(info._replace(clang_version=None))
    assert "Clang version: could not be found" in missing
    assert collect_env.run(["no-such-program-here"]) is None and collect_env.run(["false"]) is None


TOOLS = """
#include <stdint.h>
#include <stdio.h>
int nvtxRangePushA(const char* m) { printf("push %s\\n", m); fflush(stdout); return 4; }
int nvtxRangePop(void) { puts("pop"); fflush(stdout); return 3; }
void nvtxMarkA(const char* m) { printf("mark %s\\n", m); fflush(stdout); }
uint64_t nvtxRangeStartA(const char* m) { printf("start %s\\n", m); fflush(stdout); return 1ull << 40; }
void nvtxRangeEnd(uint64_t id) { printf("end %llu\\n", (unsigned long long)id); fflush(stdout); }
"""
CALLS = """
from lamella.cuda import nvtx
import lamella
assert nvtx is lamella.cuda.nvtx
nvtx.mark("here")
print(nvtx.range_push("outer"), nvtx.range_pop())
with nvtx.range("batch {} of {n}", 3, n=7):
    pass
nvtx.range_end(nvtx.range_start("upload"))
print(nvtx.is_available())
"""


def test_nvtx_calls_the_library(tmp_path):
    (tmp_path / "tools.c").write_text(TOOLS)
    subprocess.run(["gcc", "-shared", "-fPIC", "tools.c", "-o", "libtools.so"], cwd=tmp_path, check=True)
    assert ctypes.CDLL(str(tmp_path / "libtools.so")).nvtxRangePop() == 3
    printed = children.run(sys.executable, "-u", "-c", CALLS, LAMELLA_NVTX=str(tmp_path / "libtools.so"), cwd=tmp_path)
    assert printed.splitlines() == [
        "mark here", "push outer", "pop", "4 3", "push batch 3 of 7", "pop", "start upload", f"end {1 << 40}", "True",
    ]  # fmt: skip


def test_nvtx_without_the_library_does_nothing(tmp_path):
    printed = children.run(sys.executable, "-c", CALLS, LAMELLA_NVTX=str(tmp_path / "absent.so"), cwd=tmp_path)
    assert printed.splitlines() == ["-1 -1", "False"]


def test_modules_of_cuda():
    import lamella.cuda.graphs
    import lamella.cuda.memory
    import lamella.cuda.random
    import lamella.cuda.streams

    cuda = lamella.cuda
    assert cuda.memory.memory_allocated() == cuda.memory_allocated()
    assert cuda.streams.Stream is cuda.Stream and cuda.random.manual_seed(3) is None
    assert cuda.graphs.is_current_stream_capturing() is False and cuda.is_current_stream_capturing() is False
    assert isinstance(cuda.memory_summary(), str) and isinstance(cuda.memory.memory_stats_as_nested_dict(), dict)
    assert cuda.CUDAGraph is cuda.graphs.CUDAGraph and not isinstance(3, cuda.CUDAGraph)
    for call in (cuda.CUDAGraph, lambda: cuda.graph(None), lambda: cuda.graphs.make_graphed_callables(len, ())):
        with pytest.raises(NotImplementedError, match="Lamella captures no CUDA graphs"):
            call()
    assert not hasattr(cuda, "no_such_name") and not hasattr(lamella.mps, "memory_summary")


def test_nested_statistics(monkeypatch):
    flat = {"allocated_bytes.all.current": 3, "allocated_bytes.all.peak": 5, "num_device_alloc": 1}
    monkeypatch.setattr(type(lamella.cuda._common), "memory_stats", lambda self, device=None: flat)
    nested = {"allocated_bytes": {"all": {"current": 3, "peak": 5}}, "num_device_alloc": 1}
    assert lamella.cuda.memory_stats_as_nested_dict() == nested and "5" in lamella.cuda.memory_summary()


@pytest.mark.filterwarnings("ignore:range. it includes")
class TestRange:
    @pytest.mark.parametrize("arguments", [(1, 4), (1, 2.5, 0.5), (3, 1, -1), (1, 1), (-2, 3, 2), (0, 1, 0.1)])
    @pytest.mark.parametrize("dtype", [None, lamella.float64, lamella.int64])
    def test_elements(self, arguments, dtype):
        if dtype is lamella.int64 and any(isinstance(a, float) for a in arguments):
            return
        start, end, step = (*arguments, 1)[:3]
        want = start + step * np.arange(int((end - start) / step) + 1)
        made = lamella.range(*arguments, dtype=dtype)
        assert made.dtype is (dtype or lamella.float32)
        np.testing.assert_allclose(made.numpy(), want, rtol=1e-7, atol=1e-7)

    def test_out_and_gradient(self):
        out = lamella.empty(0, dtype=lamella.int32)
        assert lamella.range(0, 6, 3, out=out) is out and out.tolist() == [0, 3, 6]
        assert lamella.range(0, 1, requires_grad=True).requires_grad and lamella.range(0, 2, device="meta").shape == (
            3,
        )

    def test_bad_calls(self):
        for arguments, words in [((0, 3, 0), "other than 0"), ((0, 3, -1), "leads away"), ((0, np.inf), "finite")]:
            with pytest.raises(RuntimeError, match=words):
                lamella.range(*arguments)
        with pytest.raises(TypeError, match="missing argument 'end'"):
            lamella.range(3)
        with pytest.raises(RuntimeError, match="'out' has dtype"):
            lamella.range(0, 3, out=lamella.empty(0), dtype=lamella.int64)

    def test_it_is_silent(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert lamella.range(0, 1).tolist() == [0, 1]


def test_trees_of_torch_are_read():
    """The text that torch 2.13's treespec_dumps gives for {"a": [1, (2, None)]}."""
    from lamella.utils import _pytree as trees

    leaf = {"type": None, "context": None, "children_spec": []}
    inner = {"type": "builtins.tuple", "context": "null", "children_spec": [leaf, leaf]}
    lists = {"type": "builtins.list", "context": "null", "children_spec": [leaf, inner]}
    text = json.dumps([1, {"type": "builtins.dict", "context": '["a"]', "children_spec": [lists]}])
    spec = trees.tree_structure({"a": [1, (2, None)]})
    assert trees.treespec_loads(text) == spec and json.loads(trees.treespec_dumps(spec)) == json.loads(text)
