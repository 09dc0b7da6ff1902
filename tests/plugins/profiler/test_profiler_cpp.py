"""The C++ face and the Python face of the profiler: each reads the values that the other sets."""

import ctypes
from pathlib import Path

import lamella
import pytest
from compiled import compile_library
from lamella import profiler
from observing import names, observed

HERE = Path(__file__).parent
RUN = ctypes.CFUNCTYPE(None)


@pytest.fixture(scope="module")
def native(tmp_path_factory):
    path = compile_library(tmp_path_factory, HERE / "observing.cpp")
    lamella.ops.load_library(path)
    library = ctypes.CDLL(str(path))
    library.with_text.argtypes = [ctypes.c_char_p, ctypes.c_char_p, RUN]
    library.with_number.argtypes = [ctypes.c_char_p, ctypes.c_int64, RUN]
    library.number_of.argtypes = library.begin.argtypes = library.log_key.argtypes = [ctypes.c_char_p]
    library.number_of.restype = ctypes.c_int64
    library.end.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    library.in_a_region.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
    return library


def test_debug_information(native):
    seen = []

    def look():
        seen.append((profiler.get_debug_info("model"), profiler.all_debug_info()))
        with profiler.debug_info("model", "Python's"):
            seen.append(profiler.get_debug_info("model"))
            native.with_text(
                b"model", "innermost ä".encode(), RUN(lambda: seen.append(profiler.get_debug_info("model")))
            )

    native.with_text(b"model", b"C++'s", RUN(look))
    assert seen == [("C++'s", {"model": "C++'s"}), "Python's", "innermost ä"]
    native.with_number(b"n", 2**40, RUN(lambda: seen.append(profiler.get_debug_info("n"))))
    assert seen[-1] == 2**40
    with profiler.debug_info("n", 7):
        assert native.number_of(b"n") == 7
    with profiler.debug_info("n", "seven"):
        assert native.number_of(b"n") == -1


def in_a_region(native, kind):
    """Returns the text under a kind in two threads of one ``parallel_for``."""
    first, second = ctypes.create_string_buffer(100), ctypes.create_string_buffer(100)
    native.in_a_region(kind, first, second, 100)
    return first.value.decode(), second.value.decode()


@pytest.fixture
def two_threads():
    lamella.set_num_threads(2)


def test_it_is_seen_by_the_threads_of_a_parallel_for(native, two_threads):
    heard = []
    assert in_a_region(native, b"model") == ("", "")
    with observed(lambda r: heard.append((r.name, r.thread_id, profiler.get_debug_info("model")))):
        with profiler.debug_info("model", "net"):
            assert in_a_region(native, b"model") == ("net", "net")
        assert in_a_region(native, b"model") == ("", "")  # the worker threads have their own state back
    assert sorted((name, info or "") for name, _, info in heard) == [("aten::neg", "")] * 2 + [("aten::neg", "net")] * 2
    assert len({thread for _, thread, _ in heard}) == 2
    seen = []
    native.with_text(b"model", b"C++'s", RUN(lambda: seen.append(in_a_region(native, b"model"))))
    state = []
    with profiler.debug_info("model", "carried"):
        state.append(lamella.capture_state())
    assert seen == [("C++'s", "C++'s")] and state[0].run(in_a_region, native, b"model") == ("carried", "carried")


def test_the_threads_of_a_parallel_for_have_the_observers_of_the_one_that_began_it(native, two_threads):
    heard = []
    with observed(lambda r: heard.append(r.thread_id), everywhere=False), lamella.no_grad():
        in_a_region(native, b"model")
    in_a_region(native, b"model")
    assert len(heard) == len(set(heard)) == 2


def test_it_is_carried_together(native):
    states = []
    with profiler.debug_info("a", 1):
        native.with_text(b"b", b"two", RUN(lambda: states.append(lamella.capture_state())))
    assert states[0].run(profiler.all_debug_info) == {"a": 1, "b": "two"}
    assert profiler.all_debug_info() == {}


def test_an_observer_in_cpp_sees_python_s_information(native):
    native.begin(b"model")
    with profiler.debug_info("model", "net"), profiler.record_function("block"), names() as heard:
        lamella.ones(1)
    lamella.zeros(1)
    out = ctypes.create_string_buffer(1000)
    assert native.end(out, 1000) == 3
    assert out.value.decode().splitlines() == ["block net", "aten::ones net", "aten::zeros "]
    assert heard == ["aten::ones"]


def test_the_log(native):
    told = []
    handle = profiler.set_api_usage_handler(told.append)
    native.log_key(b"test.from cpp"), native.log_key(b"test.from cpp")
    profiler.remove_api_usage_handler(handle)
    assert told[-2:] == ["test.from cpp", "test.macro"] and told.count("test.macro") == 1
