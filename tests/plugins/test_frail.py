"""A native backend that fails: each failure is an exception that names the device, and nothing else changes."""

from pathlib import Path

import pytest
from compiled import compile_library

SETUP = """
    import ctypes
    import sys
    import lamella

    host = lamella.arange(100).to(lamella.float32)
    values = host.tolist()
    x = host.to("frail")
    import tiny_frail
    native = tiny_frail.native

    def breaks(what):
        native.break_(what.encode())
    def refused(kind, words, f):
        with fails(kind, "frail", *words) as error:
            f()
        assert error.type is kind, error.type
    def unharmed(blocks=1):
        breaks("")
        assert host.tolist() == values and x.tolist() == values and native.live_blocks() == blocks
        assert (-x).tolist() == (-host).tolist()
"""


@pytest.fixture(scope="session")
def frail_library(tmp_path_factory):
    return compile_library(tmp_path_factory, Path(__file__).with_name("frail.cpp"))


@pytest.fixture
def frail(host, packages, frail_library):
    packages(
        "frail",
        f"""
        import ctypes
        from lamella.plugins import hookimpl

        native = None

        @hookimpl
        def register(ctx):
            global native
            ctx.load_library({str(frail_library)!r})
            native = ctypes.CDLL({str(frail_library)!r})
            native.live_blocks.restype = ctypes.c_int64
        """,
        group="lamella.backends",
    )
    return host


def test_a_kernel_that_throws(frail):
    """The kernel's C++ exception becomes the error, on the caller's thread or on another one."""
    frail.run(
        SETUP
        + """
    lamella.set_num_threads(2)
    for what, kind, words in (("throw", RuntimeError, ["thrown by neg"]),
                              ("throw a number", RuntimeError, ["not derived from std::exception"]),
                              ("throw in parallel", lamella.OutOfMemoryError, ["out of memory"])):
        breaks(what)
        refused(kind, words, lambda: -x)
        refused(kind, words, x.neg_)
        unharmed()
    """
    )


def test_an_allocator_that_fails(frail):
    frail.run(
        SETUP
        + """
    breaks("alloc")
    for f in (lambda: host.to("frail"), lambda: lamella.empty(7, device="frail"), lambda: -x):
        refused(lamella.OutOfMemoryError, ["alloc: no room", "bytes"], f)
    breaks("mute")
    refused(RuntimeError, ["does not say why"], lambda: lamella.empty(7, device="frail"))
    unharmed()
    """
    )


def test_a_copy_that_fails_half_way(frail):
    frail.run(
        SETUP
        + """
    breaks("copy_from_host")
    refused(RuntimeError, ["copy_from_host: broken"], lambda: host.to("frail"))
    breaks("copy_to_host")
    for f in (lambda: x.to("cpu"), x.tolist, lambda: x[3].item(), lambda: repr(x)):
        refused(RuntimeError, ["copy_to_host: broken"], f)
    kept = host.clone()
    version = kept._version
    refused(RuntimeError, ["copy_to_host: broken"], lambda: kept.copy_(x))
    assert kept._version == version
    del kept
    unharmed()
    """
    )


def test_a_kernel_that_reports_an_error(frail):
    """An error at once is raised by the call; a late one is raised once, by the next wait."""
    frail.run(
        SETUP
        + """
    breaks("kernel")
    version = x._version
    for f in (lambda: -x, x.neg_, lambda: lamella.neg(x, out=x)):
        refused(RuntimeError, ["kernel: broken", "neg"], f)
    assert x._version == version
    unharmed()
    for end in (lambda: y.tolist(), lambda: lamella._C._synchronize("frail:0")):
        breaks("late")
        y = -x
        refused(IndexError, ["neg: a late error"], end)
        del y
        unharmed()
    """
    )


def test_a_device_that_disappears(frail):
    frail.run(
        SETUP
        + """
    view = x[10:20]
    native.disappear()
    for f in (lambda: x.to("cpu"), lambda: -x, x.tolist, lambda: x.neg_(), lambda: x.copy_(host), x.clone,
              lambda: x[3].item(), lambda: host.copy_(x), lambda: lamella.empty_like(x)):
        with fails((RuntimeError, NotImplementedError), "frail"):
            f()
    assert host.tolist() == values and x.shape == (100,) and view.shape == (10,) and "frail" in str(x.device)
    del x, view
    assert native.live_blocks() == 0  # its memory goes where it came from
    assert (host + 1).sum().item() == sum(values) + 100
    """
    )
