"""Exports that fail: an exporter that raises or hangs, a full disk, fork, and the end of the interpreter."""

import json
import logging
import threading

import lamella
import pytest
from lamella.profiler import exporters

WAIT = 30


def test_an_export_that_raises_is_tried_again(caplog):
    fails = True

    class Frail(exporters.Exporter):
        def export(self, batch):
            if fails:
                raise OSError("the network is down")
            seen.append(batch)

    seen = []
    with caplog.at_level(logging.WARNING), exporters.export(Frail, sampling=1.0, spans=True, timeout=WAIT) as handle:
        lamella.ones(2)
        assert not handle.flush() and not handle.flush()
        assert str(handle.error) == "the network is down"
        assert handle.counts == (1, 0, 0, 1, 1, 2)
        fails = False
        lamella.ones(2)
        assert handle.flush() and handle.error is None and handle.counts.unsent == 0
    assert seen[0].series[0].count == 2 and len(seen[0].spans) == 1, "histograms lose nothing, spans are lost"
    said = [r.getMessage() for r in caplog.records if r.name == "lamella.profiler.exporters"]
    assert len(said) == 2 and "the network is down" in said[0] and "go well again" in said[1]


def test_an_export_that_hangs_holds_nobody_up():
    free = threading.Event()

    class Hanging(exporters.Exporter):
        def export(self, batch):
            begun.set()
            free.wait(WAIT)

    begun = threading.Event()
    handle = exporters.export(Hanging, sampling=1.0, queue=64)
    try:
        lamella.ones(1)
        assert not handle.flush(timeout=0.01) and begun.wait(WAIT)
        for _ in range(1000):
            lamella.ones(1)
        handle.close(timeout=0.1)
        counts = handle.counts
        assert counts.recorded + counts.queue == 1001 and counts.queue > 0 and counts.unsent == counts.recorded
    finally:
        free.set()
        handle._thread.join(WAIT)
    assert handle.counts.unsent == 0


def test_an_exporter_may_call_operators_and_close():
    class Busy(exporters.Exporter):
        def export(self, batch):
            lamella.ones(2)
            assert not handle.flush()
            handle.close()

    handle = exporters.export(Busy, sampling=1.0, timeout=WAIT, interval=0.01)
    lamella.zeros(2)
    handle._thread.join(WAIT)
    assert handle.closed and handle.counts.recorded == 1


def test_a_full_disk_keeps_the_file(host, tmp_path):
    """A limit on the size of files makes the kernel refuse a part of a write, as a full disk does."""
    host.run(
        """
        import lamella, resource, sys
        from pathlib import Path
        from lamella.profiler import exporters

        path = Path("times")
        with exporters.export("jsonl", path=path, sampling=1.0, spans=True, timeout=30) as handle:
            lamella.ones(2)
            assert handle.flush()
            before = path.read_text()
            soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 100, hard))
            lamella.zeros(2).exp()
            assert not handle.flush() and isinstance(handle.error, OSError)
            assert path.read_text() == before
            assert handle.counts.failures == 1 and handle.counts.dropped["spans"] == 2 and handle.counts.unsent == 2
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            lamella.ones(2)
            assert handle.flush() and path.read_text().startswith(before)
        """
    )
    rows = [json.loads(line) for line in (tmp_path / "times").read_text().splitlines()]
    assert {r["name"] for r in rows if r["kind"] == "series"} == {"aten::ones", "aten::zeros", "aten::exp"}
    assert [r for r in rows if r["kind"] == "counts"][-1]["failures"] == 1


FORK = """
    import lamella, os, sys, threading
    from lamella.profiler import exporters

    handle = exporters.export({arguments}, sampling=1.0, interval=0.01)
    stop = threading.Event()

    def work():
        while not stop.is_set():
            lamella.ones(2)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(10):
            child = os.fork()
            if not child:
                status = 1
                try:
                    for _ in range(100):
                        lamella.zeros(2)
                    handle.close()
                    fine = handle.closed and not handle.flush() and handle.counts.recorded == 0
                    with exporters.export("jsonl", path=f"child{{os.getpid()}}", sampling=1.0, timeout=30) as own:
                        lamella.zeros(2)
                    status = 0 if fine and own.counts.recorded == 1 else 2
                finally:
                    os._exit(status)
            status = os.waitpid(child, 0)[1]
            assert status == 0, status
    finally:
        stop.set()
        thread.join(30)
    handle.close()
    {after}
    assert handle.counts.recorded > 0
"""


def test_fork_while_lines_are_written(host, tmp_path):
    host.run(FORK.format(arguments='"jsonl", path="times", timeout=30', after=""))
    names = {json.loads(line).get("name") for line in (tmp_path / "times").read_text().splitlines()}
    assert names == {None, "aten::ones"}
    assert len(list(tmp_path.glob("child*"))) == 10


def test_fork_while_a_page_is_served(host):
    again = 'exporters.export("prometheus", port=handle.exporter.port).close()  # no child holds the port'
    host.run(FORK.format(arguments='"prometheus", port=0, timeout=30', after=again))


def test_fork_while_a_dead_collector_is_tried(host):
    host.run(FORK.format(arguments='"otlp", endpoint="http://127.0.0.1:9", timeout=1', after=""), GRPC_VERBOSITY="NONE")


def test_the_end_of_the_interpreter_exports_what_there_is(host, tmp_path):
    host.run("""
        import lamella
        from lamella.profiler import exporters

        exporters.export("jsonl", path="times", sampling=1.0, interval=1000, timeout=30)
        lamella.ones(2)
    """)
    rows = [json.loads(line) for line in (tmp_path / "times").read_text().splitlines()]
    assert [r["name"] for r in rows if r["kind"] == "series"] == ["aten::ones"]


def test_the_end_of_the_interpreter_does_not_wait_for_long(host):
    """``host`` limits the child's time."""
    host.run("""
        import lamella, threading
        from lamella.profiler import exporters

        class Hanging(exporters.Exporter):
            def export(self, batch):
                threading.Event().wait()

        exporters.export(Hanging, sampling=1.0, interval=0.01, timeout=0.2)
        lamella.ones(2)
    """)


def test_an_export_in_a_worker_by_fork(host, tmp_path):
    host.run("""
        import multiprocessing

        import lamella
        from lamella.profiler import exporters

        def work(n):
            with exporters.export("jsonl", path=f"worker{n}", sampling=1.0, timeout=30):
                lamella.full((2,), n)

        with exporters.export("jsonl", path="times", sampling=1.0, timeout=30):
            children = [multiprocessing.get_context("fork").Process(target=work, args=(n,)) for n in range(2)]
            for child in children:
                child.start()
            for child in children:
                child.join(60)
                assert child.exitcode == 0
    """)
    for n in range(2):
        assert "aten::full" in (tmp_path / f"worker{n}").read_text()


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_worker_that_ends_closes_its_export(host, tmp_path, method):
    (tmp_path / "work.py").write_text(f"""
import multiprocessing

import lamella
from lamella.profiler import exporters


def work(path):
    exporters.export("jsonl", path=path, sampling=1.0, interval=1000, timeout=30)
    lamella.ones(2)


if __name__ == "__main__":
    exporters.export("jsonl", path="parent", sampling=1.0, interval=1000, timeout=30)
    lamella.zeros(2)
    child = multiprocessing.get_context("{method}").Process(target=work, args=("worker",))
    child.start()
    child.join(60)
    assert child.exitcode == 0
""")
    host.run("import runpy; runpy.run_path('work.py', run_name='__main__')")
    for path, name in (("worker", "aten::ones"), ("parent", "aten::zeros")):
        rows = [json.loads(line) for line in (tmp_path / path).read_text().splitlines()]
        assert [r["name"] for r in rows if r["kind"] == "series"] == [name]
