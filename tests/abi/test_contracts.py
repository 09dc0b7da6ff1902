"""Device ``bank`` keeps the promises of ``<lamella/backend.h>`` for each slot; each planted defect is noticed."""

import time

import pytest
from on_bank import CPU, run, unnoticed

PLANTED = {
    "an exception leaves alloc": (
        "device.cpp",
        "return closed([=] { return take(bytes, device, stream, out); });",
        "return take(bytes, device, stream, out);",
        "alloc has thrown",
    ),
    "an exception leaves event_record": (
        "streams.cpp",
        "closed([=] {\n      Event& e = event_of(event);",
        "[](auto slot) { return slot(); }([=] {\n      Event& e = event_of(event);",
        "event_record has thrown",
    ),
    "memory that ends has the wrong kind": (
        "device.cpp",
        'fail(LAMELLA_OUT_OF_MEMORY, "bank: cannot allocate "',
        'fail(LAMELLA_RUNTIME_ERROR, "bank: cannot allocate "',
        "== LAMELLA_OUT_OF_MEMORY",
    ),
    "stats of the wrong device": (
        "device.cpp",
        "lamella_status stats(void*, int32_t device, lamella_allocator_stats* out) {\n  Memory& m = memory(device);",
        "lamella_status stats(void*, int32_t, lamella_allocator_stats* out) {\n  Memory& m = memory(0);",
        "stats(last).live_bytes > other.live_bytes",
    ),
    "stats beyond the caller's struct": (
        "device.cpp",
        "std::min<size_t>(room, sizeof m.stats)",
        "sizeof m.stats",
        "small.cached_bytes == 123",
    ),
    "freed memory is counted as live": (
        "device.cpp",
        "  m.stats.live_bytes -= at->second.bytes;\n",
        "",
        "live_bytes == before.live_bytes",
    ),
    "a peak stays": (
        "device.cpp",
        "    m.stats.peak_bytes = m.stats.live_bytes;\n",
        "",
        "peak_bytes == stats(0).live_bytes",
    ),
    "blocks lie in each other": ("device.cpp", "    m.used += size;\n", "    m.used += 4096;\n", "p >= end"),
    "an event that was never recorded is awaited": (
        "streams.cpp",
        "*done = !event_of(event).place.stream || event_of(event).place.passed()",
        "*done = event_of(event).place.stream && event_of(event).place.passed()",
        "passed == 1",
    ),
    "the current device is the process's": (
        "streams.cpp",
        "int32_t device = 0;",
        "static inline int32_t device;",
        "index == last",
    ),
    "a success leaves an error": (
        "streams.cpp",
        "return *index = chosen ? chosen->device : 0, LAMELLA_OK;",
        'api().raise(LAMELLA_RUNTIME_ERROR, "left over");\n'
        "    return *index = chosen ? chosen->device : 0, LAMELLA_OK;",
        "api->error_kind() == 0",
    ),
}
HANGS = {
    "a forked child has no streams": (
        "device.cpp",
        "static_cast<const lamella_dispatcher*>(found)->around_fork(before_fork, in_parent, in_child);",
        "(void)before_fork, (void)in_parent, (void)in_child;",
        "WIFEXITED(status)",
    ),
}


def contracts(folder, library, *what):
    return run(folder / "contracts", CPU, library, "bank", *what, timeout=120)


@pytest.mark.long
def test_the_device_keeps_its_contracts(built):
    done = contracts(built, built / "bank.so")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("ok  contract: ") == 5


@pytest.mark.parametrize("what", ["exit", "fork"])
def test_the_process_ends(built, what):
    start = time.monotonic()
    done = contracts(built, built / "bank.so", what)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok  contract: " in done.stdout and time.monotonic() - start < 60


@pytest.mark.long
def test_each_broken_contract_is_noticed(built, tmp_path):
    assert not unnoticed(built, tmp_path, PLANTED, lambda library: contracts(built, library))


@pytest.mark.long
def test_a_child_that_hangs_is_noticed(built, tmp_path):
    assert not unnoticed(built, tmp_path, HANGS, lambda library: contracts(built, library, "fork"))
