"""Custom operators beside torch's: called from Python, called from C++ through the C ABI, and written in Python."""

from __future__ import annotations

import ctypes
import os
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import lamella
import native
import torch
from common import ROUNDS, Bound, Limit, Row, Sample, measure, same, table, timer

HERE = Path(__file__).parent
FLAGS = ("-fPIC", "-shared", "-fvisibility=hidden")


# ---- operators in C++ ------------------------------------------------------------------------------------------


@cache
def lamella_ops():
    lamella._C._load_plugin(str(native.compile_cpp("extension_ops.cpp", "libextension_ops.so", *FLAGS)))
    return lamella.ops.bench_extension


@cache
def torch_ops():
    from torch.utils import cpp_extension

    folder = tempfile.mkdtemp(prefix="torch-", dir=native.build_folder())
    flags = ["-O2", "-DLAMELLA_PEER_TORCH"]
    source = str(HERE / "extension_ops.cpp")
    cpp_extension.load("bench_extension", source, extra_cflags=flags, build_directory=folder, is_python_module=False)
    return torch.ops.bench_extension


def from_python() -> list[Row]:
    """Times calls with one element. The operators are looked up once, as in an import."""
    ours, theirs = lamella_ops(), torch_ops()
    x, y = lamella.tensor([2.0]), lamella.tensor([3.0])
    u, v = torch.tensor([2.0]), torch.tensor([3.0])
    same({"lamella": ours.add(x, y), "torch": theirs.add(u, v), "composed": ours.composed(x, y)})
    rows = []
    for name, arguments, built_in, bounds in (
        ("add", "a, b", lamella.add, [Bound("built-in", 1.15), Bound("torch", 0.08)]),
        ("noop", "a", None, [Bound("torch", 0.08)]),
        ("composed", "a, b", None, [Bound("torch", 0.08)]),
    ):
        peers = {
            "lamella": timer(f"f({arguments})", {"f": getattr(ours, name), "a": x, "b": y}),
            "torch": timer(f"f({arguments})", {"f": getattr(theirs, name), "a": u, "b": v}),
        }
        if built_in:
            peers["built-in"] = timer(f"f({arguments})", {"f": built_in, "a": x, "b": y})
        rows.append(Row(f"custom {name} from Python", measure(peers), bounds))
    return rows


def from_cpp() -> list[Row | Limit]:
    """Times calls from a library of another compiler. "empty" is an operator that does nothing; "raw" is an addition
    whose kernel uses the C table, not the C++ adapter."""
    lamella_ops()
    caller = shutil.which("clang++")
    os.environ["CXX"], before = caller or "g++", os.environ.get("CXX")
    try:
        path = native.compile_cpp("extension_caller.cpp", "libextension_caller.so", *FLAGS)
    finally:
        os.environ.pop("CXX") if before is None else os.environ.update(CXX=before)
    lamella._C._load_plugin(str(path))
    time = ctypes.CDLL(str(path)).nanoseconds_a_call
    time.restype = ctypes.c_double
    time.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int32, ctypes.c_int64]
    calls = {"empty": (b"noop", 1), "add": (b"add", 2), "raw": (b"raw", 2)}
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, (op, count) in calls.items():
            taken[name].append(time(b"bench_extension::" + op, b"", count, 200_000))
    with_compiler = f"called from {'clang++' if caller else 'g++, for want of clang++'}"

    def over(one: str, other: str) -> Sample:
        return Sample([x - y for x, y in zip(taken[one], taken[other], strict=True)])

    return [
        Limit(f"custom add {with_compiler}, over the empty call", over("add", "empty"), 40),
        Row(
            f"custom add {with_compiler}, a C++ function beside a kernel against the C table",
            {"typed": Sample(taken["add"]), "raw": Sample(taken["raw"])},
            [Bound("raw", 1.1)],
            ours="typed",
        ),
        Limit(f"the empty call {with_compiler}", Sample(taken["empty"]), 60),
    ]


# ---- operators in Python ---------------------------------------------------------------------------------------


def python_ops(framework) -> dict[str, Callable[..., object]]:
    """Registers operators that add one, by the same calls in both frameworks."""
    library = framework.library

    def more(x):
        return x + 1

    more.__annotations__ = {"x": framework.Tensor, "return": framework.Tensor}
    names = ("custom", "differentiated")
    ops = {name: library.custom_op(f"bench_python::{name}", more, mutates_args=()) for name in names}
    ops["differentiated"].register_autograd(lambda ctx, g: g * 2, setup_context=lambda ctx, inputs, output: None)
    kernels = library.Library("bench_impl", "DEF")
    kernels.define("more(Tensor x) -> Tensor")
    kernels.impl("more", more, "CPU")
    return ops | {"impl": framework.ops.bench_impl.more, "library": kernels}


def in_python() -> list[Row]:
    """Times operators in Python on one element: a kernel that adds one and, for gradients, a backward that doubles."""
    peers = {"lamella": lamella, "torch": torch}
    ops = {name: python_ops(framework) for name, framework in peers.items()}
    rows = []
    for name, statement, grad, most in (
        ("custom", "f(x)", False, 0.05),
        ("impl", "f(x)", False, 0.12),
        ("differentiated", "f(x).backward(); x.grad = None", True, 0.1),
    ):
        inputs = {peer: framework.ones(1, requires_grad=grad) for peer, framework in peers.items()}
        same({peer: ops[peer][name](x).detach() for peer, x in inputs.items()})
        timers = {peer: timer(statement, {"f": ops[peer][name], "x": x}) for peer, x in inputs.items()}
        what = {"custom": "custom_op", "impl": "Library.impl", "differentiated": "register_autograd, both ways"}[name]
        rows.append(Row(f"{what} from Python", measure(timers), [Bound("torch", most)]))
    return rows


# ----------------------------------------------------------------------------------------------------------------


def main() -> list[Row | Limit]:
    rows: list[Row | Limit] = [*from_python(), *from_cpp(), *in_python()]
    print(table("custom operators", rows))
    return rows


if __name__ == "__main__":
    main()
