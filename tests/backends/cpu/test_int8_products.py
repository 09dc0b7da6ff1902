"""Products of bytes are exact with every kind of instructions; a child process forces each kind."""

import os
import subprocess
import sys
from pathlib import Path

import lamella
import numpy as np
import pytest
from pages import ROOT

SIZES = [
    (1, 1, 1), (1, 5, 7), (7, 1, 1), (2, 3, 40), (8, 4, 8), (9, 17, 33), (24, 2, 31), (12, 600, 32), (100, 513, 70),
    (250, 1030, 65), (301, 1025, 260), (5, 7, 2100), (16, 0, 16), (0, 4, 5), (5, 4, 0), (1, 3000, 1),
    (1, 300, 41), (3, 1027, 2101), (4, 256, 34), (7, 70, 64),
]  # fmt: skip


def wanted(a, b):
    """Returns the product, computed in int64 and wrapped to int32."""
    return (a.astype(np.int64) @ b.astype(np.int64)).astype(np.int32)


def in_columns(t):
    return t.t().contiguous().t()


FORMS = {
    "rows": lambda a, b: (a, b),
    "columns of a": lambda a, b: (in_columns(a), b),
    "columns of b": lambda a, b: (a, in_columns(b)),
    "columns of both": lambda a, b: (in_columns(a), in_columns(b)),
    "every second row": lambda a, b: (a.repeat_interleave(2, 0)[::2], b.repeat_interleave(2, 0)[::2]),
    "every second column": lambda a, b: (a.repeat_interleave(2, 1)[:, ::2], b.repeat_interleave(2, 1)[:, ::2]),
}


def faults(sizes=SIZES):
    """Returns the wrong results over all sizes, layouts, signs of the left operand and kinds of values."""
    found, rng = [], np.random.default_rng(0)
    for m, k, n in sizes:
        for left in ("int8", "uint8"):
            low, high = (0, 256) if left == "uint8" else (-128, 128)
            values = {
                "any": (rng.integers(low, high, (m, k)), rng.integers(-128, 128, (k, n))),
                "extremes": (np.full((m, k), low if low else 255), np.full((k, n), -128)),
                "both ends": (rng.choice([low, high - 1], (m, k)), rng.choice([-128, 127], (k, n))),
            }
            for kind, (x, y) in values.items():
                a, b = lamella.from_numpy(x.astype(left)), lamella.from_numpy(y.astype("int8"))
                expected = wanted(x, y)
                for form, lay in FORMS.items() if kind == "any" else [("rows", FORMS["rows"])]:
                    for threads in (1, 2):
                        lamella.set_num_threads(threads)
                        got = lamella._int_mm(*lay(a, b))
                        if got.dtype != lamella.int32 or not np.array_equal(got.numpy(), expected):
                            found.append((m, k, n, left, kind, form, threads))
    return found


def test_every_layout():
    assert faults() == []


def test_sums_wrap():
    k = 140_000  # the sum 128 · 128 · k exceeds 2³¹
    low = lamella.full((2, k), -128, dtype=lamella.int8)
    got = lamella._int_mm(low, low.t())
    assert (got.numpy() == np.int64(128 * 128 * k).astype(np.int32)).all()


def test_results_of_bytes_wrap_as_before():
    """mm keeps the dtype of bytes: each result is the lowest byte of its sum."""
    rng = np.random.default_rng(1)
    for dtype in ("int8", "uint8"):
        limits = np.iinfo(dtype)
        for m, k, n in [(3, 5, 2), (9, 33, 40), (130, 70, 257)]:
            x, y, z = (rng.integers(limits.min, limits.max + 1, s).astype(dtype) for s in ((m, k), (k, n), (n,)))
            a, b, c = map(lamella.from_numpy, (x, y, z))
            full = (x.astype(np.int64) @ y.astype(np.int64)).astype(dtype)
            np.testing.assert_array_equal((a @ b).numpy(), full)
            np.testing.assert_array_equal(lamella.bmm(a[None], b[None])[0].numpy(), full)
            np.testing.assert_array_equal(lamella.nn.functional.linear(a, in_columns(b).t(), c).numpy(), full + z)
            np.testing.assert_array_equal(lamella.addmm(c, a, b).numpy(), full + z)


def test_out():
    a, b = lamella.full((9, 5), 3, dtype=lamella.int8), lamella.full((5, 33), -2, dtype=lamella.int8)
    for out in (lamella.empty(9, 33, dtype=lamella.int32), lamella.empty(33, 9, dtype=lamella.int32).t()):
        assert lamella._int_mm(a, b, out=out) is out and (out == -30).all()


def test_meta():
    a = lamella.empty(10**6, 10**6, dtype=lamella.int8, device="meta")
    got = lamella._int_mm(a, a[:, :3])
    assert got.shape == (10**6, 3) and got.dtype == lamella.int32


# Settings that force the instructions: each level alone, all that the processor has, and oneDNN's code, which uses AMX
# if the processor has it.
WAYS = {
    "x86-64": {"LAMELLA_CPU_ISA": "x86-64"},
    "x86-64-v3": {"LAMELLA_CPU_ISA": "x86-64-v3"},
    "x86-64-v4": {"LAMELLA_CPU_ISA": "x86-64-v4"},
    "all": {},
    "onednn": {"LAMELLA_CPU_PRODUCTS": "onednn"},
}


def run(program, way):
    kept = {k: v for k, v in os.environ.items() if k not in ("LAMELLA_CPU_ISA", "LAMELLA_CPU_PRODUCTS")}
    folders = [str(ROOT / "tests"), str(ROOT / "tests/backends/cpu")]
    done = subprocess.run(
        [sys.executable, "-c", program], env=kept | WAYS[way] | {"PYTHONPATH": os.pathsep.join(folders)},
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("way", [w for w in WAYS if w != "all"])
def test_every_way_is_exact(way):
    sizes = SIZES if way != "onednn" else [(300, 300, 300), (513, 257, 300), (256, 1030, 270)]
    assert run(f"import test_int8_products as t; print(t.faults({sizes}))", way) == "[]\n"


@pytest.mark.parametrize("way", ["all", "onednn"])
def test_bfloat16_rounds_once_in_every_way(way):
    program = (
        "import test_bfloat16_products as t\n"
        "for size in [(300, 511, 264), (256, 256, 256), (600, 300, 257)]: t.test_each_sum_is_rounded_once(*size)\n"
        "t.test_what_is_not_finite()"
    )
    run(program, way)


def test_onednn_is_used_where_it_is_asked_for():
    program = (
        "import lamella\n"
        "a = lamella.ones(300, 300)\n"
        "lamella._int_mm(a.to(lamella.int8), a.to(lamella.int8)), a.bfloat16() @ a.bfloat16()"
    )
    kept = WAYS["onednn"] | {"ONEDNN_VERBOSE": "1"}
    WAYS["verbose"] = kept
    told = run(program, "verbose")
    if "onednn_verbose" not in told:
        pytest.skip("oneDNN is not in this build, or built without its report")
    if "avx512" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("the processor has no AVX-512: no product of bfloat16 or bytes goes to oneDNN")
    assert "matmul" in told and "src_s8" in told and "src_bf16" in told
