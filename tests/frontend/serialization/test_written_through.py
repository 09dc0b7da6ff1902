"""A file is written to what its path names: devices, FIFOs, links and open files stay what they are."""

import json
import os
import stat
import subprocess
import sys
import threading

import lamella
import numpy as np
import pytest
from lamella.serialization import save_safetensors


def profiled():
    with lamella.profiler.profile() as prof:
        lamella.ones(2)
    return prof


def bytes_of(array):
    return np.asarray(array, np.float32).tobytes()


WRITERS = {
    "save": (lambda path: lamella.save(lamella.full((2,), 3.5), path), lambda data: bytes_of([3.5, 3.5]) in data),
    "save_safetensors": (
        lambda path: save_safetensors({"a": lamella.full((2,), 3.5)}, path),
        lambda data: data.endswith(bytes_of([3.5, 3.5])),
    ),
    "export_chrome_trace": (
        lambda path: profiled().export_chrome_trace(path),
        lambda data: any(event["name"] == "aten::ones" for event in json.loads(data)["traceEvents"]),
    ),
    "export_html": (lambda path: profiled().export_html(path), lambda data: b"aten::ones" in data),
}


@pytest.fixture(params=WRITERS)
def writer(request):
    return WRITERS[request.param]


def test_a_device_stays(writer):
    before = os.stat("/dev/null")
    writer[0]("/dev/null")
    after = os.stat("/dev/null")
    assert stat.S_ISCHR(after.st_mode) and after.st_ino == before.st_ino
    assert not [name for name in os.listdir("/dev") if "null." in name]


def test_a_fifo_is_written_through(writer, tmp_path):
    path, got = tmp_path / "pipe", []
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: got.append(path.read_bytes()), daemon=True)
    reader.start()
    writer[0](path)
    reader.join(60)
    assert stat.S_ISFIFO(os.stat(path).st_mode) and writer[1](got[0])


def test_the_target_of_a_link_is_replaced(writer, tmp_path):
    target, link = tmp_path / "folder" / "target", tmp_path / "link"
    target.parent.mkdir()
    link.symlink_to("folder/target")
    for _ in range(2):  # first it dangles
        writer[0](link)
        assert link.is_symlink() and writer[1](target.read_bytes())
        target.write_bytes(b"old")
        writer[0](link)
    assert sorted(os.listdir(tmp_path)) == ["folder", "link"] and os.listdir(target.parent) == ["target"]


PROGRAM = """
import sys, lamella
print("first", flush=True)
lamella.serialization.save_safetensors({"a": lamella.full((2,), 3.5)}, sys.argv[1])
print("last", flush=True)
"""


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
@pytest.mark.parametrize("to", ["pipe", "file"])
def test_the_standard_output_goes_on(name, to, tmp_path):
    command = [sys.executable, "-c", PROGRAM, name]
    if to == "pipe":
        data = subprocess.run(command, stdout=subprocess.PIPE, check=True, cwd=tmp_path).stdout
    else:
        with open(tmp_path / "out", "wb") as out:
            subprocess.run(command, stdout=out, check=True, cwd=tmp_path)
        data = (tmp_path / "out").read_bytes()
    assert data.startswith(b"first\n") and data.endswith(bytes_of([3.5, 3.5]) + b"last\n")
