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
from threads import in_threads

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
    """Makes a folder of temporary files for the test; its path is short, as a socket's must be."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="lp") as short:
        monkeypatch.setenv("TMPDIR", short)
        monkeypatch.setattr(tempfile, "tempdir", short)
        yield short


@pytest.fixture
def started(place):
    """Starts the program, or another one, with the variable set; ends it afterwards."""
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
    # A second profile, requested from Python; the process goes on.
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
    if os.getuid() == 0:  # tries as another user
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


def test_the_socket_asks_who_connects(started, place):
    """Another user who can reach the socket gets no answer."""
    child = started()
    path = on_demand.socket_path(child.pid)
    if os.getuid() != 0:
        assert raw(child.pid, b"[]\n")  # only root can become another user
        return
    for each, rights in ((place, 0o755), (path.parent, 0o755), (path, 0o777)):
        os.chmod(each, rights)
    pid = os.fork()
    if pid == 0:
        status = 2
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            with socket.socket(socket.AF_UNIX) as s:
                s.settimeout(30)
                s.connect(os.fspath(path))
                s.sendall(b"[]\n")
                status = 1 if s.recv(1) else 0
        except ConnectionError:
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(pid, 0)[1] == 0
    os.chmod(path.parent, 0o700)
    assert b"error" in raw(child.pid, b"[]\n")


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
    assert raw(child.pid, b"") == b""  # an empty request gets an empty answer
    assert lamella.profiler.profile_process(child.pid, 0.05, tmp_path / "t.json") > 0
    with pytest.raises(TypeError, match="colour"):
        lamella.profiler.profile_process(child.pid, 0.05, tmp_path / "t.json", colour=True)
    out = command("--pid", child.pid, "--duration", "soon")
    assert out.returncode == 2 and "expected seconds" in out.stderr


def test_who_asks_may_go(started, tmp_path):
    """The client disconnects during a long profile: the profile ends, and the next client is served."""
    child = started()
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(os.fspath(on_demand.socket_path(child.pid)))
        s.sendall(b'{"seconds": 3000}\n')
        time.sleep(0.1)
    assert lamella.profiler.profile_process(child.pid, 0.05, tmp_path / "t.json") > 0


def test_a_process_that_is_killed_meanwhile(started, place, tmp_path):
    child = started()
    asking = subprocess.Popen(
        [sys.executable, "-m", "lamella", "profile", "--pid", str(child.pid), "--duration", "100",
         "-o", str(tmp_path / "t.json")], stderr=subprocess.PIPE, text=True)  # fmt: skip
    end = time.monotonic() + 60
    while not any(name.startswith("lamella-profile-") for name in os.listdir(place)):  # until the request has arrived
        assert time.monotonic() < end
        time.sleep(0.01)
    child.send_signal(signal.SIGKILL)
    _, error = asking.communicate(timeout=60)
    assert asking.returncode == 1 and "ended before its profile was made" in error or "reset" in error, error
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
        while not on_demand.socket_path(child).exists():  # the socket is made after the fork
            assert time.monotonic() < end
            time.sleep(0.01)
        lamella.profiler.profile_process(child, 0.2, tmp_path / "t.json")
        spans = [e for e in json.loads((tmp_path / "t.json").read_text())["traceEvents"] if e["ph"] == "X"]
        assert {e["name"] for e in spans} == {"aten::zeros"} and {e["pid"] for e in spans} == {child}
    finally:
        os.kill(child, signal.SIGKILL)


WORKERS = """
import multiprocessing, os, sys, time, lamella
context = multiprocessing.get_context("fork")
children = [context.Process(target=lamella.ones, args=(2,)) for _ in range(3)]
for child in children: child.start()
for child in children: child.join(60)
if os.fork() == 0: os._exit(0)  # leaves its socket
os.wait()
print("ready", flush=True)
time.sleep(60)
"""


def test_sockets_of_processes_that_ended_are_removed(started, place):
    first = started(WORKERS)
    folder = os.path.join(place, f"lamella-{os.getuid()}")
    names = set(os.listdir(folder))
    assert f"profile-{first.pid}" in names and len(names) <= 2
    second = started(WORKERS)
    names = set(os.listdir(folder))
    assert {f"profile-{p.pid}" for p in (first, second)} <= names and len(names) <= 3
    assert not names & {f"profile-{p}" for p in range(first.pid + 1, second.pid)}, "of the first one's children"


def test_two_ask_at_once(started, tmp_path):
    child = started()
    in_threads(*[lambda n=n: lamella.profiler.profile_process(child.pid, 0.3, tmp_path / n) for n in "ab"])
    assert all(json.loads((tmp_path / n).read_text())["traceEvents"] for n in "ab")


def test_a_waiting_client_hears_that_the_process_works(started):
    child = started()
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(60)
        s.connect(os.fspath(on_demand.socket_path(child.pid)))
        s.sendall(b'{"seconds": 1.2}\n')
        answer = s.makefile("rb").readline()
    assert answer.startswith(b" ") and json.loads(answer)["bytes"] > 0


def test_a_stopped_process_is_named(started, tmp_path, monkeypatch):
    monkeypatch.setattr(on_demand, "SILENCE", 0.3)
    child = started()
    child.send_signal(signal.SIGSTOP)
    with pytest.raises(ConnectionError, match=f"process {child.pid} has not answered for 0.3 seconds"):
        lamella.profiler.profile_process(child.pid, 0.1, tmp_path / "t.json")


def test_a_process_without_descriptors_serves_later(started, tmp_path):
    program = """
import os, resource, time, lamella
from lamella.plugins.profiler import on_demand
lamella.profiler.profile  # its files are read while there are descriptors
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
held = []
try:
    while True: held.append(os.dup(0))
except OSError:
    pass
print("ready", flush=True)
time.sleep(1.0)
for fd in held: os.close(fd)
end = time.monotonic() + 60
while time.monotonic() < end:
    lamella.zeros(1)
    time.sleep(0.001)
"""
    child = started(program)
    end, size = time.monotonic() + 60, 0
    while not size:
        try:
            size = lamella.profiler.profile_process(child.pid, 0.1, tmp_path / "t.json")
        except RuntimeError as error:
            assert "Too many open files" in str(error) and time.monotonic() < end


def test_too_many_events_are_counted(started, tmp_path, monkeypatch):
    program = PROGRAM.replace(
        "import sys", "from lamella.plugins.profiler import on_demand\non_demand.MOST_EVENTS = 10\nimport sys"
    )
    child = started(program)
    with pytest.warns(RuntimeWarning, match="were beyond the first"):
        lamella.profiler.profile_process(child.pid, 0.3, tmp_path / "t.json")
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    assert 0 < sum(e["ph"] == "X" for e in events) <= 10
