"""<lamella/archive.h>: what a C++ program without Python writes is read by Python's zipfile and by Lamella."""

import hashlib
import os
import random
import re
import struct
import zipfile

import lamella
import numpy as np
import pytest
from lamella.serialization.archive import Archive, ArchiveWriter
from native import STRICT, TOP, compiled, include, installed, linked, output


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    out = tmp_path_factory.mktemp("archive") / "program"
    flags = ("-std=c++17", "-O1", *STRICT, "-DLAMELLA_NO_PLUGIN_INIT", "-I", TOP / "tests/cpp")
    return linked(TOP / "tests/cpp/archive.cpp", out, *flags, compiler="g++")


@pytest.fixture(scope="module")
def written(program, tmp_path_factory):
    """Returns the folder with the files of the program, whose own checks have held."""
    folder = tmp_path_factory.mktemp("written")
    said = output(program, installed() / "backends/cpu/liblamella_cpu.so", folder)
    assert len(re.findall("^ok ", said, re.MULTILINE)) == 6
    return folder


def test_zipfile_reads_what_the_program_wrote(written):
    with zipfile.ZipFile(written / "written.zip") as z:
        assert z.testzip() is None
        assert z.namelist() == ["numbers", "text/empty", "text/long", "text/short"]
        assert struct.unpack("6f", z.read("numbers")) == (1, 2, 3, 4, 5, 6.5)
        assert z.read("text/long").decode() == "".join(f"{i} " for i in range(100_000))
        for info in z.infolist():
            begin = info.header_offset + 30 + len(info.filename) + len(_extra(written / "written.zip", info))
            assert begin % 64 == 0 and info.compress_type == zipfile.ZIP_STORED
    assert not [n for n in os.listdir(written) if n.endswith(".lamella-part")]


def _extra(path, info):
    with open(path, "rb") as f:
        f.seek(info.header_offset + 28)
        (size,) = struct.unpack("<H", f.read(2))
    return bytes(size)


def test_python_writes_the_same_bytes(written, tmp_path):
    with open(tmp_path / "x.zip", "wb") as f:
        w = ArchiveWriter(f)
        w.add("numbers", np.array([1, 2, 3, 4, 5, 6.5], "float32"))
        for name, data in (("empty", b""), ("long", "".join(f"{i} " for i in range(100_000)).encode())):
            w.add(f"text/{name}", data)
        w.add("text/short", b"graph(%x : Tensor) { return (%x); }")
        w.finish()
    assert (tmp_path / "x.zip").read_bytes() == (written / "written.zip").read_bytes()
    read = Archive(written / "written.zip")
    assert np.array_equal(np.frombuffer(read.read("numbers"), "float32"), [1, 2, 3, 4, 5, 6.5])


def test_digests(program, tmp_path):
    """Lengths around the ends of blocks, in pieces of several sizes; hashlib gives the right ones."""
    rng = random.Random(0)
    for size in (0, 1, 55, 56, 63, 64, 65, 119, 120, 1000, 100_003):
        data = rng.randbytes(size)
        (tmp_path / "data").write_bytes(data)
        for each in (1 if size < 2000 else 999, 64, 100, 10**6):
            assert output(program, "sha256", tmp_path / "data", each) == hashlib.sha256(data).hexdigest()


C_PROGRAM = """
#include <lamella/archive.h>
#include <lamella/program.h>
#include <stdio.h>

int main(int argc, char** argv) {
  const lamella_api* api = lamella_get_api(LAMELLA_TARGET_VERSION);
  const lamella_archive_interface* archives = api->find_interface("archive", 1);
  lamella_archive* a;
  if (argc != 2 || archives->open_file(argv[1], &a)) return puts(api->error_message()), 1;
  for (int64_t i = 0; i < archives->num_members(a); i++) {
    const lamella_archive_member* m = archives->member(a, i);
    printf("%s %d %08x\\n", m->name, (int)m->num_bytes, m->crc32);
  }
  api->release(a);
  return 0;
}
"""


@pytest.mark.parametrize("standard", ["c99", "c11"])
def test_the_table_is_plain_c(standard, written, tmp_path):
    (tmp_path / "list.c").write_text(C_PROGRAM)
    program = linked(tmp_path / "list.c", tmp_path / "list", f"-std={standard}", *STRICT, compiler="gcc")
    with zipfile.ZipFile(written / "written.zip") as z:
        listed = "".join(f"{i.filename} {i.file_size} {i.CRC:08x}\n" for i in z.infolist())
    assert output(program, written / "written.zip") == listed


def test_clang_compiles_the_classes(tmp_path):
    text = 'std::string first(const char* path) { return lamella::ArchiveReader(path).text("x"); }'
    (tmp_path / "x.cpp").write_text(f"#include <lamella/archive.h>\n{text}\n")
    for standard in ("c++17", "c++20"):
        compiled(
            "clang++", f"-std={standard}", *STRICT, "-fPIC", "-shared", "-I", include(), tmp_path / "x.cpp", "-o",
            tmp_path / "x.so",
        )  # fmt: skip


def test_a_checkpoint_is_an_archive(program, tmp_path):
    """A tensor that Python saved has the bytes that the library's own SHA-256 sums."""
    lamella.save({"w": lamella.arange(1000.0)}, tmp_path / "w.lamella")
    with zipfile.ZipFile(tmp_path / "w.lamella") as z:
        [name] = [n for n in z.namelist() if n.startswith("data/")]
        (tmp_path / "member").write_bytes(z.read(name))
    digest = hashlib.sha256(np.arange(1000, dtype="float32").tobytes()).hexdigest()
    assert output(program, "sha256", tmp_path / "member", 4096) == digest
