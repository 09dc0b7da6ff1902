"""The out-of-memory error: its text about all devices, and about the largest blocks and their makers."""

import lamella
import pytest
from heaps import Heap
from lamella.profiler import memory_snapshot, record_memory_history


class Small(Heap):
    """A device of 10,000 bytes."""

    left = 10_000

    def alloc(self, nbytes, index, stream):
        if nbytes > self.left:
            raise MemoryError(f"small: {nbytes} bytes are too many")
        self.left -= nbytes
        return super().alloc(nbytes, index, stream)

    def free(self, address, nbytes, index):
        self.left += nbytes
        super().free(address, nbytes, index)


@pytest.fixture
def small():
    backend = Small()
    library = lamella.library.register_backend("small", backend)
    yield backend
    library.close()


def text_of(error):
    return "\n".join([str(error), *getattr(error, "__notes__", [])])


def test_largest_blocks_with_operator_and_line(small):
    of_host = lamella.ones(1000)
    with record_memory_history():
        kept = [lamella.empty(n, 10, device="small") for n in (100, 50, 20)]
        here = test_largest_blocks_with_operator_and_line.__code__.co_firstlineno + 3
        with pytest.raises(lamella.OutOfMemoryError) as failed:
            lamella.empty(1000, 10, device="small")
        (event,) = (e for e in memory_snapshot()["events"] if e["action"] == "oom")
    assert event["action"] == "oom" and event["bytes"] == 40_000 and event["device"] == "small"
    assert event["frames"][0]["line"] == here + 3 and event["operator"] == "aten::empty"
    text = text_of(failed.value)
    assert "small: 40000 bytes are too many" in text
    assert "memory by device: " in text and "small 6800 bytes in use" in text and "cpu " in text
    lines = text[text.index("the largest blocks on 'small'") :].splitlines()[1:]
    at = f"made by aten::empty, at {__file__}:{here} in "
    for line, n in zip(lines, (100, 50, 20), strict=False):
        assert line.strip().startswith(f"{n * 40} bytes: float32 ({n}, 10), {at}"), line
    assert len(kept) == 3 and of_host.numel() == 1000


def test_without_a_history_it_says_how_to_have_one(small):
    of_host = lamella.ones(1000)
    with pytest.raises(lamella.OutOfMemoryError) as failed:
        lamella.zeros(1000, 10, device="small")
    text = text_of(failed.value)
    assert "memory by device: cpu " in text and "; small does not count" in text and of_host.numel() == 1000
    assert "record_memory_history()" in text and "made by" not in text


def test_an_allocation_that_succeeds_at_the_second_attempt_is_no_failure(small, monkeypatch):
    monkeypatch.setattr(Small, "left", 0)

    def trim(self, index, cap):
        self.left = 10_000

    monkeypatch.setattr(Small, "trim", trim, raising=False)
    library = lamella.library.register_backend("smaller", Small())
    try:
        with record_memory_history():
            assert lamella.empty(100, device="smaller").numel() == 100
            assert [e["action"] for e in memory_snapshot()["events"]] == ["alloc", "free"]
    finally:
        library.close()


@pytest.mark.parametrize("history", [True, False])
def test_a_process_that_has_no_more_memory(host, history):
    """The address space is limited, so the system refuses memory."""
    host.run(f"""
        import resource
        import lamella

        if {history}:
            lamella.profiler.record_memory_history()
        lamella.ones(1) + 1
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + (192 << 20), resource.RLIM_INFINITY))
        kept = []

        def fill():
            while True:
                kept.append(lamella.ones(4 << 20))  # 16 MB each

        try:
            fill()
        except lamella.OutOfMemoryError as error:
            text = "\\n".join([str(error), *getattr(error, "__notes__", [])])
            assert kept and "memory by device: cpu " in text, text
            assert "4194304 of float32 (16777216 bytes)" in text, text  # the core's own list
            made = "16777216 bytes: float32 (4194304,), made by aten::ones, at <string>:14 in fill"
            assert (made in text) is {history}, text
            assert ("lamella.profiler.record_memory_history()" in text) is not {history}, text
        else:
            raise SystemExit("no error")
        kept.clear()
        assert lamella.ones(1000).sum().item() == 1000
    """)
