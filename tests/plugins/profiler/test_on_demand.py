"""Profiles of a running process over its socket. Every wait has a bound."""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time

import lamella
import pytest
from lamella.plugins.profiler import on_demand

PROGRAM = """
import sys, time, lamella
x = lamella.ones(3)
print("ready", flush=True)
end = time.monotonic() + 120
while time.monotonic() < end:
    (x + 1).sum()
    time.sleep(0.001)
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder of temporary files for the test alone; its path is short, as a socket's has to be."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="lp") as short:
        monkeypatch.setenv("TMPDIR", short)
        monkeypatch.setattr(tempfile, "tempdir", short)
        yield short


@pytest.fixture
def started(place):
    """Starts the program, or another one, with the variable; ended afterwards."""
    running = []

    def start(program=PROGRAM, **variables):
        env = os.environ | {"TMPDIR": place, "LAMELLA_PROFILE_SOCKET": "1"} | variables
        child = subprocess.Popen([sys.executable, "-c", program], env=env, stdout=subprocess.PIPE, text=True)
        running.append(child)
        assert child.stdout.readline() == "ready\n"
        return child

    yield start
    for child in running:
        child.kill()
        child.wait(60)
        child.stdout.close()


def command(*words):
    return subprocess.run(
        [sys.executable, "-m", "lamella", "profile", *map(str, words)], capture_output=True, text=True, timeout=120
    )


def test_a_running_process_is_profiled(started, tmp_path):
    child = started()
    out = command("--pid", child.pid, "--duration", "300ms", "--record-shapes", "-o", tmp_path / "t.json")
    assert out.returncode == 0 and f"{tmp_path / 't.json'}: " in out.stdout, out
    spans = [e for e in json.loads((tmp_path / "t.json").read_text())["traceEvents"] if e["ph"] == "X"]
    assert {e["name"] for e in spans} == {"aten::add", "aten::sum"}
    assert all(e["tid"] == child.pid and "Input Dims" in e["args"] for e in spans)
    assert os.listdir(tmp_path) == ["t.json"]
    # A second time, from Python, and the process goes on.
    assert lamella.profiler.profile_process(child.pid, 0.1, tmp_path / "again.json") > 100
    assert child.poll() is None


def test_nothing_listens_by_default(started, tmp_path):
    child = started(LAMELLA_PROFILE_SOCKET="")
    out = command("--pid", child.pid, "--duration", "0.1", "-o", tmp_path / "t.json")
    assert out.returncode == 1 and "LAMELLA_PROFILE_SOCKET=1" in out.stderr and not os.listdir(tmp_path)


def test_only_its_user_can_connect(started, place):
    child = started()
    path = on_demand.socket_path(child.pid)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700 and stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_ISSOCK(path.stat().st_mode)
    if os.getuid() == 0:  # another user tries
        os.chmod(place, 0o755)
        pid = os.fork()
        if pid == 0:
            try:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
                with socket.socket(socket.AF_UNIX) as s:
                    s.connect(os.fspath(path))
                os._exit(1)
            except PermissionError:
                os._exit(0)
            finally:
                os._exit(2)
        assert os.waitpid(pid, 0)[1] == 0


def test_a_folder_that_others_may_enter_is_refused(place):
    os.mkdir(os.path.join(place, f"lamella-{os.getuid()}"), 0o755)
    with pytest.raises(PermissionError, match="its user alone"):
        on_demand.socket_path(1)
    program = "import lamella; print(lamella.ones(1).item())"
    env = os.environ | {"TMPDIR": place, "LAMELLA_PROFILE_SOCKET": "1"}
    out = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=120)
    assert out.stdout == "1.0\n" and "cannot be profiled from outside" in out.stderr


def raw(pid, text):
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(60)
        s.connect(os.fspath(on_demand.socket_path(pid)))
        s.sendall(text)
        s.shutdown(socket.SHUT_WR) if not text else None
        return s.makefile("rb").readline()


def test_bad_requests_are_answered_and_the_next_one_served(started, tmp_path):
    child = started()
    for text in (b"what\n", b"{}\n", b'{"seconds": -1}\n', b'{"seconds": 1e9}\n', b'{"seconds": "x"}\n', b"[]\n"):
        assert "error" in json.loads(raw(child.pid, text)), text
    assert raw(child.pid, b"") == b""  # who says nothing gets nothing
    assert lamella.profiler.profile_process(child.pid, 0.05, tmp_path / "t.json") > 0
    with pytest.raises(TypeError, match="colour"):
        lamella.profiler.profile_process(child.pid, 0.05, tmp_path / "t.json", colour=True)
    out = command("--pid", child.pid, "--duration", "soon")
    assert out.returncode == 2 and "expected seconds" in out.stderr


def test_who_asks_may_go(started, tmp_path):
    """The connection ends during a long profile: that ends, too, and the next one is served."""
    child = started()
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(os.fspath(on_demand.socket_path(child.pid)))
        s.sendall(b'{"seconds": 3000}\n')
        time.sleep(0.1)
    assert lamella.profiler.profile_process(child.pid, 0.05, tmp_path / "t.json") > 0


def test_a_process_that_is_killed_meanwhile(started, tmp_path):
    child = started()
    asking = subprocess.Popen(
        [sys.executable, "-m", "lamella", "profile", "--pid", str(child.pid), "--duration", "100",
         "-o", str(tmp_path / "t.json")], stderr=subprocess.PIPE, text=True)  # fmt: skip
    time.sleep(0.5)
    child.send_signal(signal.SIGKILL)
    _, error = asking.communicate(timeout=60)
    assert asking.returncode == 1 and error, error
    assert not os.listdir(tmp_path)


def test_the_socket_goes_with_its_process(started, place):
    program = PROGRAM.replace("120", "0")
    child = started(program)
    child.wait(60)
    folder = os.path.join(place, f"lamella-{os.getuid()}")
    assert os.listdir(folder) == []


def test_children_by_fork_listen(started, tmp_path):
    program = """
import os, sys, time, lamella
pid = os.fork()
if pid:
    print("ready", flush=True)
    print(pid, flush=True)
    sys.exit(os.waitpid(pid, 0)[1] and 0)
end = time.monotonic() + 60
while time.monotonic() < end and os.getppid() != 1:
    lamella.zeros(1)
    time.sleep(0.001)
"""
    parent = started(program)
    child = int(parent.stdout.readline())
    try:
        end = time.monotonic() + 60
        while not on_demand.socket_path(child).exists():  # it is made behind the fork
            assert time.monotonic() < end
            time.sleep(0.01)
        lamella.profiler.profile_process(child, 0.2, tmp_path / "t.json")
        spans = [e for e in json.loads((tmp_path / "t.json").read_text())["traceEvents"] if e["ph"] == "X"]
        assert {e["name"] for e in spans} == {"aten::zeros"} and {e["pid"] for e in spans} == {child}
    finally:
        os.kill(child, signal.SIGKILL)
