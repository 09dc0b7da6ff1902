"""<lamella/sampled_calls.h>: a native library, built with the installed headers alone, gathers samples."""

import ctypes
from pathlib import Path

import lamella
import pytest
from compiled import compile_library


@pytest.fixture(scope="module")
def gather(tmp_path_factory):
    path = str(compile_library(tmp_path_factory, Path(__file__).with_name("gather.cpp")))
    lamella._C._load_plugin(path)
    library = ctypes.CDLL(path)
    library.start.restype = library.finish.restype = ctypes.c_char_p
    return library


def test_series_and_spans(gather):
    assert gather.start(64) is None
    with lamella.profiler.debug_info("model", "m"):
        for request in range(2):
            with lamella.profiler.debug_info("request", request):
                lamella.ones(2)
    lamella.ones(2, dtype=lamella.int64)
    lines = gather.finish().decode().splitlines()
    assert sorted(lines[:2]) == ["aten::ones cpu float32 m 2", "aten::ones cpu int64 - 1"]
    assert lines[2:] == ["span aten::ones 0", "span aten::ones 1", "span aten::ones -", "3 recorded"]


def test_a_queue_of_no_size(gather):
    assert b"capacity must be 1 to 2^20" in gather.start(0)
