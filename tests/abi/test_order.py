"""What Note [Order] of ``<lamella/backend.h>`` promises, of device ``bank``; each broken promise is noticed."""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import lamella
import pytest
from compiled import INCLUDE, locked, shared_folder

PACKAGE = Path(lamella._C.__file__).parent
ROOT = Path(__file__).resolve().parents[2]
BANK = ROOT / "examples/backend_plugin/src"
AUTOGRAD = [PACKAGE / "plugins/autograd/liblamella_autograd.so"] if hasattr(lamella, "autograd") else []
CPU = PACKAGE / "backends/cpu/liblamella_cpu.so"
CXX = ("g++", "-std=c++17", "-O0", "-fPIC", "-fwrapv", "-pthread", "-I", str(INCLUDE))
OWNER = "-DLAMELLA_EXTENSION_NAME=lamella_bank"

# Each breaks one promise: the file, what stands there, what stands there instead, and the check that reports it.
PLANTED = {
    "null is the default stream": (
        "streams.cpp",
        "    Stream& s = stream_of(device, stream);\n    e.place",
        "    Stream& s = stream ? stream_of(device, stream) : *streams().usual[device];\n    e.place",
        "!passed(e)",
    ),
    "a thread's stream stays behind": (
        "streams.cpp",
        "  type.copy = ",
        "  [[maybe_unused]] lamella_status (*unused)(void*, void**) = ",
        "current() == s",
    ),
    "a copy to the host does not wait": (
        "device.cpp",
        "move(current(c->from.index), c->dst",
        "move(*new Stream(c->from.index), c->dst",
        "holds(x, 2)",
    ),
    "a copy from the host does not wait": (
        "device.cpp",
        "Stream& s = current(c->to.index);",
        "Stream& s = *new Stream(c->to.index);",
        "holds(sum, 6)",
    ),
    "a copy does not wait for its source": ("device.cpp", "  follow(to, from.last());\n", "", "holds(to, 2)"),
    "the source does not wait for a copy": (
        "device.cpp",
        "  follow(from, move(to, open(c->dst), open(c->src), c->bytes));",
        "  move(to, open(c->dst), open(c->src), c->bytes);",
        "holds(to, 2) && holds(from, 3)",
    ),
    "freed memory is given out at once": (
        "device.cpp",
        "    return (ends.size() == 1",
        "    return true || (ends.size() == 1",
        "holds(kept, 2)",
    ),
    "recorded streams are forgotten": ("device.cpp", "used.push_back(s);", "(void)s;", "holds(kept, 2)"),
    "a blocking copy returns too early": (
        "device.cpp",
        "held = std::vector<char>(bytes, bytes + c->bytes)] {\n      return std::memcpy(to, held.data(), held.size())",
        "bytes, n = c->bytes] {\n      return std::memcpy(to, bytes, n)",
        "holds(x, 1)",
    ),
    "a late error is raised again": (
        "streams.cpp",
        "return std::exchange(fault, {});",
        "return fault;",
        "stream_synchronize",
    ),
    "a late error is lost": ("streams.cpp", "return std::exchange(fault, {});", "return {};", "division by zero"),
}


def run(*command, **options):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)


def compiled(*command):
    done = run(*CXX, *command)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A folder with the program and an object of each source of the device, made once for all processes of the run."""
    folder = shared_folder(tmp_path_factory) / "order"
    with locked(folder.with_suffix(".lock")):
        if not (folder / "bank.so").exists():
            folder.mkdir(exist_ok=True)
            link = (f"-L{PACKAGE}", "-l:liblamella.so", f"-Wl,-rpath,{PACKAGE}", "-o", folder / "order")
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                program = pool.submit(compiled, Path(__file__).with_name("order.cpp"), "-I", ROOT / "tests/cpp", *link)
                list(pool.map(lambda f: compiled(OWNER, "-c", f, "-o", folder / f"{f.stem}.o"), BANK.glob("*.cpp")))
            program.result()
            compiled("-shared", *folder.glob("*.o"), "-o", folder / "bank.so")
    return folder


def order(folder, library):
    return run(folder / "order", CPU, library, "bank", *AUTOGRAD, timeout=120)


def test_the_device_keeps_its_promises(built):
    done = order(built, built / "bank.so")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("ok  order: ") == 8 + len(AUTOGRAD)


def test_each_broken_promise_is_noticed(built, tmp_path):
    def broken(what):
        name, there, instead, report = PLANTED[what]
        text = (BANK / name).read_text()
        assert text.count(there) == 1, what
        folder = tmp_path / str(list(PLANTED).index(what))
        folder.mkdir()
        (folder / name).write_text(text.replace(there, instead))
        compiled(OWNER, "-I", BANK, "-c", folder / name, "-o", folder / "changed.o")
        others = [f for f in built.glob("*.o") if f.stem != Path(name).stem]
        compiled("-shared", *others, folder / "changed.o", "-o", folder / "bank.so")
        for _ in range(3):  # what is late by chance may hide it
            done = order(built, folder / "bank.so")
            if done.returncode == 1 and report in done.stderr:
                return what, True, ""
        return what, False, done.stderr

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        unnoticed = [(what, said) for what, noticed, said in pool.map(broken, PLANTED) if not noticed]
    assert not unnoticed
