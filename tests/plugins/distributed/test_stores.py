"""Stores: one behaviour for all kinds, also between processes, and their faults."""

import os
import random
import socket
import subprocess
import sys
import threading
import time
from datetime import timedelta

import lamella
import lamella.distributed as dist
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

SHORT = timedelta(milliseconds=200)


def make(kind, tmp_path):
    """Returns two stores with the same values, as two processes have them."""
    if kind == "hash":
        return (dist.HashStore(),) * 2
    if kind == "file":
        return tuple(dist.FileStore(tmp_path / "store", 2) for _ in range(2))
    if kind == "prefix":
        inner = dist.HashStore()
        return dist.PrefixStore("a", inner), dist.PrefixStore("a", inner)
    server = dist.TCPStore("127.0.0.1", 0, None, True)
    return server, dist.TCPStore("127.0.0.1", server.port)


@pytest.fixture(params=["hash", "file", "prefix", "tcp"])
def stores(request, tmp_path):
    return make(request.param, tmp_path)


def test_values_are_shared(stores):
    a, b = stores
    a.set("x", "1")
    assert b.get("x") == b"1"
    b.set("x", bytes(range(256)))
    assert a.get("x") == bytes(range(256))
    assert a.add("n", 5) == 5 and b.add("n", -7) == -2 and a.get("n") == b"-2"
    assert not a.check(["x", "y"]) and a.check(["x", "n"])
    assert a.compare_set("c", "", "1") == b"1" and b.compare_set("c", "0", "2") == b"1"
    assert b.compare_set("c", "1", "2") == b"2" and a.get("c") == b"2"
    assert b.compare_set("absent", "1", "2") == b"1" and not a.check(["absent"])
    b.append("c", "3")
    assert a.get("c") == b"23"
    assert a.num_keys() == 3 and a.delete_key("x") and not b.delete_key("x") and b.num_keys() == 2
    a.multi_set(["p", "q"], ["1", b"\0"])
    assert b.multi_get(["p", "q"]) == [b"1", b"\0"]
    big = os.urandom(1 << 20)
    a.set("big", big)
    assert b.get("big") == big


operations = st.lists(
    st.one_of(
        st.tuples(st.just("set"), st.sampled_from("ab"), st.binary(max_size=8)),
        st.tuples(st.just("add"), st.sampled_from("mn"), st.integers(-5, 5)),
        st.tuples(st.just("delete_key"), st.sampled_from("abmn")),
        st.tuples(st.just("compare_set"), st.sampled_from("ab"), st.binary(max_size=2), st.binary(max_size=2)),
    ),
    max_size=30,
)


@pytest.mark.parametrize("kind", ["hash", "file", "tcp"])
@given(operations, st.randoms())
@settings(max_examples=25, deadline=None)
def test_stores_are_dicts(kind, tmp_path_factory, calls, chance):
    a, b = make(kind, tmp_path_factory.mktemp("store"))
    model: dict[str, bytes] = {}
    for name, key, *rest in calls:
        got = getattr(chance.choice([a, b]), name)(key, *rest)
        if name == "set":
            model[key] = rest[0]
        elif name == "add":
            model[key] = str(int(model.get(key, b"0")) + rest[0]).encode()
            assert got == int(model[key])
        elif name == "delete_key":
            assert got == (model.pop(key, None) is not None)
        else:
            expected, desired = rest
            if model.get(key, b"") == expected:
                model[key] = desired
            assert got == model.get(key, expected)
    for key in "abmn":
        assert b.check([key]) == (key in model)
        assert key not in model or a.get(key) == model[key]


def test_waits(stores):
    a, b = stores
    begin = time.monotonic()
    threading.Timer(0.2, lambda: b.set("late", "1")).start()
    assert a.get("late") == b"1" and 0.1 < time.monotonic() - begin < 60
    a.set_timeout(SHORT)
    with pytest.raises(dist.DistStoreError, match=r"wait timeout after 200ms, keys: '(a/)?never'"):
        a.get("never")
    with pytest.raises(dist.DistStoreError, match="'(a/)?q', '(a/)?r' were not set"):
        a.wait(["late", "q", "r"], SHORT)
    a.set("still", "works")
    assert b.get("still") == b"works"


def test_adding_at_once_loses_nothing(stores):
    def count(store):
        for _ in range(200):
            store.add("n", 1)

    threads = [threading.Thread(target=count, args=(s,)) for s in (*stores, *stores)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert stores[0].add("n", 0) == 800


def test_equal_bytes_are_appended_each(stores):
    def append(store):
        for _ in range(100):
            store.append("log", "a")

    threads = [threading.Thread(target=append, args=(s,)) for s in (*stores, *stores)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert stores[1].get("log") == b"a" * 400


def test_bad_input(stores):
    a, _ = stores
    a.set("text", "x")
    with pytest.raises(ValueError, match="key '(a/)?text' holds bytes that are no whole number"):
        a.add("text", 1)
    a.set("n", str(2**63 - 1))
    with pytest.raises(OverflowError, match="beyond 64 bits"):
        a.add("n", 1)
    with pytest.raises(TypeError, match="argument 'value' must be a str or bytes, got int"):
        a.set("x", 3)
    with pytest.raises(TypeError):
        a.wait("key", 3, 4, 5)
    with pytest.raises(ValueError, match="must not be negative"):
        a.set_timeout(timedelta(seconds=-1))
    with pytest.raises(ValueError, match="2 keys and 1 values"):
        a.multi_set(["a", "b"], ["1"])
    with pytest.raises(TypeError, match="Store cannot be made"):
        dist.Store()
    with pytest.raises(TypeError, match="argument 'store' must be a Store"):
        dist.PrefixStore("a", {})
    assert issubclass(dist.DistStoreError, dist.DistError) and issubclass(dist.DistError, RuntimeError)


# ---- files -----------------------------------------------------------------------------------------------------------


def test_a_torn_record_is_cut_off(tmp_path):
    """A process that ends within a write leaves a part of a record, which the next writer cuts off."""
    path = tmp_path / "store"
    store = dist.FileStore(path)
    store.set("a", "1")
    whole = path.read_bytes()
    store.set("b", "2" * 100)
    for cut in range(len(whole) + 1, path.stat().st_size, 7):
        path.write_bytes(whole + b"\0" * 4 + b"\1\0\0\0" + b"\x64\0\0\0b" + b"2" * (cut - len(whole)))
        if path.stat().st_size >= len(whole) + 113:
            break
        other = dist.FileStore(path)
        assert other.get("a") == b"1" and not other.check(["b"])
        other.set("c", "3")
        assert dist.FileStore(path).get("c") == b"3"


def test_the_file_goes_with_its_last_process(tmp_path):
    path = tmp_path / "store"
    stores = [dist.FileStore(path, 2) for _ in range(2)]
    stores[0].set("a", "1")
    del stores[0]
    assert path.exists()
    stores.clear()
    assert not path.exists()


def test_files_that_are_no_stores(tmp_path):
    (tmp_path / "text").write_text("hello, world")
    with pytest.raises(dist.DistStoreError, match="is not the file of a store"):
        dist.FileStore(tmp_path / "text")
    assert (tmp_path / "text").read_text() == "hello, world"
    with pytest.raises(dist.DistStoreError, match="No such file or directory"):
        dist.FileStore(tmp_path / "none" / "store")


def test_a_full_disk(tmp_path):
    """A write that does not fit changes nothing. The limit of a file's size stands for the disk's."""
    code = f"""
import resource, signal
import lamella.distributed as dist
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = dist.FileStore({str(tmp_path / "store")!r})
store.set("a", "1")
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
try:
    store.set("b", "x" * 10000)
except dist.DistStoreError as e:
    print(e)
print(store.get("a"), store.check(["b"]))
store.set("c", "3")
print(dist.FileStore({str(tmp_path / "store")!r}).get("c"))
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True).stdout
    assert "FileStore: writing to" in out and "File too large" in out and "b'1' False" in out and "b'3'" in out, out


def test_a_killed_writer_holds_no_lock(tmp_path):
    code = f"""
import lamella.distributed as dist
store = dist.FileStore({str(tmp_path / "store")!r})
print("ready", flush=True)
while True:
    store.add("n", 1)
"""
    for _ in range(3):
        p = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        assert p.stdout.readline() == "ready\n"
        time.sleep(0.05)
        p.kill()
        p.communicate()
    store = dist.FileStore(tmp_path / "store")
    n = store.add("n", 0)
    assert n > 0 and store.add("n", 1) == n + 1


# ---- servers ---------------------------------------------------------------------------------------------------------


def test_a_port_that_is_taken():
    server = dist.TCPStore("127.0.0.1", 0, None, True)
    with pytest.raises(
        dist.DistNetworkError, match=f"cannot listen at 127.0.0.1:{server.port}: Address already in use"
    ):
        dist.TCPStore("127.0.0.1", server.port, None, True)
    with pytest.raises(ValueError, match="expected a port, or 0 on the master"):
        dist.TCPStore("127.0.0.1", 0)


def test_no_server():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    begin = time.monotonic()
    with pytest.raises(
        dist.DistNetworkError, match=f"timed out after 300ms .* \\(127.0.0.1, {port}\\): Connection refused"
    ):
        dist.TCPStore("127.0.0.1", port, timeout=timedelta(milliseconds=300))
    assert time.monotonic() - begin < 30
    with pytest.raises(dist.DistNetworkError, match="no.such.host.invalid"):
        dist.TCPStore("no.such.host.invalid", 1, None, True)


def test_a_server_that_goes_away():
    code = """
import sys, time
import lamella.distributed as dist
server = dist.TCPStore("127.0.0.1", 0, None, True)
server.set("a", "1")
print(server.port, flush=True)
time.sleep(600)
"""
    p = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        store = dist.TCPStore("127.0.0.1", int(p.stdout.readline()), timeout=timedelta(seconds=20))
        assert store.get("a") == b"1"
        threading.Timer(0.2, p.kill).start()
        with pytest.raises(dist.DistNetworkError, match="is lost: .*the process that runs the store may have ended"):
            store.get("never")
        store.set_timeout(SHORT)
    finally:
        p.kill()
        p.communicate()


def test_workers_that_do_not_come():
    with pytest.raises(
        dist.DistStoreError, match="timed out after 300ms waiting for clients: 1 of 3 processes have come"
    ):
        dist.TCPStore("127.0.0.1", 0, 3, True, timeout=timedelta(milliseconds=300))


def test_the_server_listens_at_its_host_alone():
    server = dist.TCPStore("127.0.0.1", 0, None, True)
    listening = [line.split()[1] for line in open("/proc/net/tcp") if line.split()[3] == "0A"]
    assert f"0100007F:{server.port:04X}" in listening and f"00000000:{server.port:04X}" not in listening


def test_bytes_that_are_no_messages():
    """Whatever a client sends, the server goes on, and its other clients lose nothing."""
    server = dist.TCPStore("127.0.0.1", 0, None, True)
    server.set("a", "1")
    chance = random.Random(0)
    starts = [
        b"",
        b"GET / HTTP/1.1\r\n\r\n",
        b"LMTCPST1",
        b"LMTCPST1\xff\xff\xff\xff",
        b"LMTCPST1\x05\0\0\0\x01\xff\xff\xff\x7f",
    ]
    for i in range(200):
        with socket.create_connection(("127.0.0.1", server.port), 10) as s:
            s.settimeout(10)
            body = starts[i % len(starts)] + chance.randbytes(chance.randrange(60))
            try:
                s.sendall(body)
                s.shutdown(socket.SHUT_WR)
                while s.recv(4096):
                    pass
            except ConnectionError:
                pass
    assert server.get("a") == b"1" and dist.TCPStore("127.0.0.1", server.port).add("n", 1) == 1


def test_a_server_without_descriptors():
    """A process that can open no further file serves the clients that it has, and takes others later."""
    code = """
import os, resource, socket, time
import lamella.distributed as dist
server = dist.TCPStore("127.0.0.1", 0, None, True)
server.num_keys()  # its own connection is accepted by now
resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 8, 4096))
held = []
try:
    while True:
        held.append(socket.create_connection(("127.0.0.1", server.port), 5))
except OSError:
    pass
server.set("a", "1")
begin = time.process_time()
time.sleep(1)
assert time.process_time() - begin < 0.5, "the server spins"
for s in held:
    s.close()
time.sleep(0.3)
print(server.get("a"), dist.TCPStore("127.0.0.1", server.port).get("a"))
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert out.stdout == "b'1' b'1'\n", out.stderr


def test_messages_that_come_byte_by_byte():
    server = dist.TCPStore("127.0.0.1", 0, None, True)

    def field(b):
        return len(b).to_bytes(4, "little") + b

    body = bytes([1]) + field(b"key") + field(b"value")
    with socket.create_connection(("127.0.0.1", server.port), 10) as s:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in b"LMTCPST1" + field(body):
            s.sendall(bytes([byte]))
        assert s.recv(100) == b"\x01\0\0\0\0"
    assert server.get("key") == b"value"


def test_rendezvous(tmp_path, monkeypatch):
    store, rank, size = next(dist.rendezvous(f"file://{tmp_path}/store?rank=1&world_size=2"))
    assert isinstance(store, dist.FileStore) and (rank, size) == (1, 2)
    for name in ("MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ValueError, match="the rank is not known: set the environment variable RANK"):
        next(dist.rendezvous("env://"))
    monkeypatch.setenv("RANK", "zero")
    with pytest.raises(ValueError, match="environment variable RANK must be the rank, got 'zero'"):
        next(dist.rendezvous("env://"))
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "1")
    monkeypatch.setenv("MASTER_PORT", "0")
    with pytest.raises(ValueError, match="set MASTER_ADDR and MASTER_PORT"):
        next(dist.rendezvous("env://"))
    monkeypatch.setenv("MASTER_ADDR", "127.0.0.1")
    store, rank, size = next(dist.rendezvous("env://"))
    assert isinstance(store, dist.TCPStore) and (rank, size) == (0, 1) and store.port
    with pytest.raises(ValueError, match="expected env://, tcp://host:port or file:///path"):
        next(dist.rendezvous("http://a:1", 0, 1))
    assert not dist.is_initialized()
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        dist.all_reduce(lamella.ones(1))
    with pytest.raises(ValueError, match="there is no engine 'nccl'.*installed are: mpi"):
        dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=1)
