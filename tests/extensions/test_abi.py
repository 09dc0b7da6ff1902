"""The C ABI is append-only: all of version 1.0 stays where it is, and additions are hidden from code built for 1.0."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from abi import INCLUDES, breaks, differences, dump, gcc, key
from native import TOP, compiles

SOURCE = TOP / "extensions" / "include"
HERE = Path(__file__).parent
GOLDEN = (HERE / "abi_1_0.txt").read_text().splitlines()
V1_0, V1_1 = 0x10000, 0x10001


def minor_of(include):
    return int(re.search(r"define LAMELLA_ABI_MINOR (\d+)", (include / "lamella" / "version.h").read_text())[1])


@pytest.fixture
def headers(tmp_path):
    """Returns a function that edits a file of a copy of the public headers and returns the folder."""
    shutil.copytree(SOURCE, tmp_path / "include")

    def edit(name, before, after):
        path = tmp_path / "include" / "lamella" / name
        text = path.read_text()
        assert before in text, f"{name} has no {before!r}; plant the defect elsewhere"
        path.write_text(text.replace(before, after, 1))
        return tmp_path / "include"

    return edit


@pytest.mark.parametrize("minor", range(minor_of(SOURCE) + 1))
def test_nothing_has_changed(minor):
    """The headers give the lines of each version's file, and each later version, also today's, only adds lines."""
    golden = (HERE / f"abi_1_{minor}.txt").read_text().splitlines()
    assert differences(golden, dump(SOURCE, V1_0 + minor)) == []
    for later in range(minor, minor_of(SOURCE) + 1):
        assert breaks(golden, dump(SOURCE, V1_0 + later)) == []


def test_the_golden_file_holds_what_matters():
    """The table's entries in their order, each pointer's signature, and no two lines with one key."""
    tables = {  # name: (header, text that ends the search, offset of the first entry, least number of entries)
        "lamella_api": ("c_api.h", "here ends version 1.0", 16, 70),
        "lamella_archive_interface": ("archive.h", "} lamella_archive_interface;", 8, 15),
        "lamella_autograd": ("autograd.h", "} lamella_autograd;", 8, 35),
        "lamella_python": ("python.h", "} lamella_python;", 16, 8),
    }
    for name, (header, end, first, least) in tables.items():
        text = (SOURCE / "lamella" / header).read_text()
        text = text[: text.index(end)]
        table = text[max(text.rfind("struct {"), text.rfind(f"struct {name} {{")) :]
        entries = re.findall(r"^  [\w ]+[ *]+\(\*(\w+)\)\(", table, re.MULTILINE)
        there = [re.match(rf"struct {name}\.(\w+) at (\d+), 8 bytes: .*\(\*\)\(", line) for line in GOLDEN]
        offsets = {m[1]: int(m[2]) for m in there if m}
        assert list(offsets) == entries and len(entries) >= least
        assert list(offsets.values()) == [first + 8 * i for i in range(len(entries))]
    assert len(GOLDEN) == len({key(line) for line in GOLDEN})


def test_no_two_parameters_of_one_type_go_without_names():
    """Without names, exchanging two such parameters would not change the file."""
    for line in GOLDEN:
        unnamed = re.findall(r"(?:\(|, )((?:const )?(?:lamella_\w+|u?int\d+_t|void|char)(?: \*)*)(?=,|\))", line)
        assert len(unnamed) == len(set(unnamed)), line


def padded(include):
    """Returns structs that end with padding: a later field there would get bytes that older code never set."""
    flags = ("-fsyntax-only", "-Wpadded", "-x", "c", "-")
    said = gcc(include, V1_0 + minor_of(include), *flags, text=INCLUDES).stderr
    return re.findall(r"padding struct size to alignment boundary.*\n.*\} (\w+);", said)


def test_no_struct_ends_with_padding(headers):
    assert padded(SOURCE) == []
    planted = headers("definitions.h", "  uint32_t namespace_version;\n", "")
    assert padded(planted) == ["lamella_library_def"]


DEFECTS = {
    "swapped entries": (
        "c_api.h",
        "  void* (*storage_data)(const lamella_storage*);\n  int64_t (*storage_bytes)(const lamella_storage*);",
        "  int64_t (*storage_bytes)(const lamella_storage*);\n  void* (*storage_data)(const lamella_storage*);",
        ["changed: struct lamella_api.storage_data at", "changed: struct lamella_api.storage_bytes at"],
    ),
    "an entry in the middle": (
        "c_api.h",
        "  void (*retain)(void* object);",
        "  void (*pin)(void* object);\n  void (*retain)(void* object);",
        ["added without #if LAMELLA_TARGET_VERSION: struct lamella_api.pin", "changed: struct lamella_api.retain at"],
    ),
    "another signature": (
        "c_api.h",
        "lamella_status (*withdraw)(lamella_handle);",
        "lamella_status (*withdraw)(const lamella_handle*);",
        ["changed: struct lamella_api.withdraw"],
    ),
    "a narrower parameter": (
        "c_api.h",
        "lamella_status (*raise)(int32_t kind,",
        "lamella_status (*raise)(uint8_t kind,",
        ["changed: struct lamella_api.raise at"],
    ),
    "a lost const": (
        "c_api.h",
        "const char* (*backend_name)(int32_t id);",
        "char* (*backend_name)(int32_t id);",
        ["changed: struct lamella_api.backend_name"],
    ),
    "a narrowed field": (
        "types.h",
        "  uint64_t include; /* layers",
        "  uint32_t include; /* layers",
        ["changed: struct lamella_thread.include at 8, 8 bytes"],
    ),
    "a field at the end of a struct that cannot grow": (
        "definitions.h",
        "} lamella_meta;",
        "  int64_t more;\n} lamella_meta;",
        ["changed: struct lamella_meta of 1072 bytes, for ever"],
    ),
    "a field at the end, without the guard": (
        "backend.h",
        "} lamella_backend;",
        "  int64_t more;\n} lamella_backend;",
        ["added without #if LAMELLA_TARGET_VERSION: struct lamella_backend.more"],
    ),
    "a renumbered enumerator": (
        "types.h",
        "LAMELLA_VALUE_ERROR = 3",
        "LAMELLA_VALUE_ERROR = 33",
        ["changed: enum lamella_error_kind LAMELLA_VALUE_ERROR = 3  ->"],
    ),
    "an enumerator taken away": (
        "definitions.h",
        ", LAMELLA_ABSENT_HIGHEST = 2",
        "",
        ["taken away: enum lamella_absent LAMELLA_ABSENT_HIGHEST = 2"],
    ),
    "another number of dimensions": (
        "types.h",
        "#define LAMELLA_MAX_DIMS 64",
        "#define LAMELLA_MAX_DIMS 65",
        ["changed: define LAMELLA_MAX_DIMS = 64", "changed: struct lamella_meta of 1072 bytes"],
    ),
    "another callback": (
        "c_api.h",
        "(*lamella_body)(void* context, int64_t begin, int64_t end)",
        "(*lamella_body)(int64_t begin, int64_t end, void* context)",
        ["changed: typedef lamella_body"],
    ),
    "another width of the status": (
        "types.h",
        "typedef int32_t lamella_status",
        "typedef int64_t lamella_status",
        ["changed: typedef lamella_status"],
    ),
    "another exported function": (
        "program.h",
        "lamella_status lamella_load_plugin(const char* path);",
        "lamella_status lamella_load_plugin(const char* path, int32_t flags);",
        ["changed: function lamella_load_plugin"],
    ),
    "another member of a value": (
        "types.h",
        "    const double* doubles;",
        "    const float* doubles;",
        ["changed: struct lamella_value.as.doubles"],
    ),
    "swapped parameters of one type": (
        "c_api.h",
        "(*generator_set)(lamella_object* generator, uint64_t seed, uint64_t offset)",
        "(*generator_set)(lamella_object* generator, uint64_t offset, uint64_t seed)",
        ["changed: struct lamella_api.generator_set"],
    ),
    "swapped parameters of a slot": (
        "backend.h",
        "void* event, void* stream); /* the stream waits */",
        "void* stream, void* event); /* the stream waits */",
        ["changed: struct lamella_backend.event_wait"],
    ),
    "another number of dtypes": (
        "types.h",
        "#define LAMELLA_PLAIN_DTYPES 15",
        "#define LAMELLA_PLAIN_DTYPES 16",
        ["changed: define LAMELLA_PLAIN_DTYPES = 15"],
    ),
    "another code of DLPack": (
        "dlpack.h",
        "kDLBfloat = 4",
        "kDLBfloat = 5",
        ["changed: enum DLDataTypeCode kDLBfloat"],
    ),
    "another device of DLPack": ("dlpack.h", "kDLCUDA = 2", "kDLCUDA = 3", ["changed: enum DLDeviceType kDLCUDA = 2"]),
    "another struct of DLPack": (
        "dlpack.h",
        "  uint64_t byte_offset;\n",
        "",
        ["taken away: struct DLTensor.byte_offset", "changed: struct lamella_tensor.numel"],
    ),
    "another name in the stamp": ("version.h", '"Lamella", ', '"LAMELLA", ', ["changed: section .note.lamella"]),
    "another type of the stamp": ("version.h", "8, 8, 1, ", "8, 8, 2, ", ["changed: section .note.lamella"]),
    "another section for the stamp": (
        "version.h",
        'section(".note.lamella")',
        'section(".note.other")',
        ["changed: section .note.lamella"],
    ),
    "a field less in the stamp": (
        "version.h",
        "  uint32_t major, minor;",
        "  uint32_t minor, major;",
        ["changed: struct lamella_stamp.major", "changed: struct lamella_stamp.minor"],
    ),
    "another entry of the interface autograd": (
        "autograd.h",
        "  lamella_status (*pop_saved_hooks)(void);",
        "  lamella_status (*pop_saved_hooks)(int32_t n);",
        ["changed: struct lamella_autograd.pop_saved_hooks"],
    ),
    "a field in the middle of a derivative": (
        "autograd.h",
        "  const char* formulas;",
        "  const char* name;\n  const char* formulas;",
        ["changed: struct lamella_derivative.formulas at 8"],
    ),
    "swapped entries of the interface python": (
        "python.h",
        "  PyObject* (*raise_pending)(void);",
        "  void (*drop_all)(void);\n  PyObject* (*raise_pending)(void);",
        ["changed: struct lamella_python.raise_pending"],
    ),
    "another capsule": (
        "python.h",
        '"lamella.library.api"',
        '"lamella.api"',
        ["changed: define LAMELLA_PYTHON_CAPSULE"],
    ),
}


@pytest.mark.parametrize("name", DEFECTS)
def test_a_planted_defect_is_reported(name, headers):
    file, before, after, reports = DEFECTS[name]
    include = headers(file, before, after)
    headers("types.h", "_Static_assert(condition,", "_Static_assert(1,")  # these would report some defects first
    found = differences(GOLDEN, dump(include, V1_0))
    for report in reports:
        assert any(line.startswith(report) for line in found), "\n".join(found)


# ---- the next minor version, planted --------------------------------------------------------------------------------

GUARD = "#if LAMELLA_TARGET_VERSION >= LAMELLA_MAKE_VERSION(1, 1)\n"
LATER = {  # the edits with which a person would append to 1.0
    "version.h": ("#define LAMELLA_ABI_MINOR 0", "#define LAMELLA_ABI_MINOR 1"),
    "c_api.h": (
        "  /* ---- here ends version 1.0; what comes later is appended ---- */\n",
        GUARD + "  lamella_status (*planted)(int64_t);\n#endif\n",
    ),
    "types.h": (
        "  LAMELLA_HOST_ERROR = 11",
        GUARD + "  LAMELLA_PLANTED_ERROR = 13,\n#endif\n  LAMELLA_HOST_ERROR = 11",
    ),
}


@pytest.fixture
def later(headers):
    for name, (before, after) in LATER.items():
        include = headers(name, before, after)
    return include


def test_a_later_entry_leaves_the_earlier_version_alone(later):
    assert differences(GOLDEN, dump(later, V1_0)) == []
    now = dump(later, V1_1)
    assert breaks(GOLDEN, now) == []
    added = differences(GOLDEN, now)
    assert [line.split(": ")[1].split(" at ")[0].split(" = ")[0] for line in added] == [
        "enum lamella_error_kind LAMELLA_PLANTED_ERROR",
        "struct lamella_api.planted",
    ]


# Additions that break libraries of 1.0 though 1.0's own text is unchanged: mistakes that an author might make.
MISPLACED = {
    "an entry in the middle": (
        "c_api.h",
        "  void (*retain)(void* object);",
        "BEGIN  void (*pin)(void* object);\nEND  void (*retain)(void* object);",
        ["not at the end: struct lamella_api.pin", "changed: struct lamella_api.retain at"],
    ),
    "a field in the middle": (
        "backend.h",
        "  int32_t (*device_count)(void* context);",
        "BEGIN  void* planted;\nEND  int32_t (*device_count)(void* context);",
        ["not at the end: struct lamella_backend.planted", "changed: struct lamella_backend.device_count at"],
    ),
    "a field in the place of a reserved one": (
        "autograd.h",
        "  uint32_t reserved;\n  const char* name;",
        "BEGIN  uint32_t planted;\n#else\n  uint32_t reserved;\nEND  const char* name;",
        ["taken away: struct lamella_node_type.reserved"],
    ),
    "a field at the end of a struct that cannot grow": (
        "definitions.h",
        "} lamella_meta;",
        "BEGIN  int64_t planted;\nEND} lamella_meta;",
        ["changed: struct lamella_meta of 1072 bytes, for ever"],
    ),
    "an enumerator in the middle": (
        "definitions.h",
        "  LAMELLA_META_ALIAS = 1,",
        "#if LAMELLA_TARGET_VERSION >= LAMELLA_MAKE_VERSION(1, 1)\n  LAMELLA_META_ALIAS = 6,\n#else\n"
        "  LAMELLA_META_ALIAS = 1,\n#endif\n",
        ["changed: enum lamella_meta_kind LAMELLA_META_ALIAS = 1"],
    ),
    "an enumerator with the number of another": (
        "types.h",
        "  LAMELLA_HOST_ERROR = 11",
        "BEGIN  LAMELLA_PLANTED = 10,\nEND  LAMELLA_HOST_ERROR = 11",
        ["the number of LAMELLA_INTERRUPTED: enum lamella_error_kind LAMELLA_PLANTED"],
    ),
    "a constant that depends on the target": (
        "types.h",
        "#define LAMELLA_MAX_DIMS 64\n",
        "BEGIN#define LAMELLA_MAX_DIMS 65\n#else\n#define LAMELLA_MAX_DIMS 64\nEND",
        ["changed: define LAMELLA_MAX_DIMS = 64"],
    ),
    "more plain dtypes": (
        "types.h",
        "#define LAMELLA_PLAIN_DTYPES 15",
        "BEGIN#define LAMELLA_PLAIN_DTYPES 16\n#else\n#define LAMELLA_PLAIN_DTYPES 15\nEND",
        ["changed: define LAMELLA_PLAIN_DTYPES = 15"],
    ),
    "an entry in the middle of an interface": (
        "autograd.h",
        "  void (*node_retain)(lamella_node*);",
        "BEGIN  void (*planted)(void);\nEND  void (*node_retain)(lamella_node*);",
        ["not at the end: struct lamella_autograd.planted", "changed: struct lamella_autograd.node_retain"],
    ),
}


@pytest.mark.parametrize("name", MISPLACED)
def test_a_later_addition_in_the_wrong_place_is_reported(name, headers):
    file, before, after, reports = MISPLACED[name]
    headers("version.h", *LATER["version.h"])
    include = headers(file, before, after.replace("BEGIN", GUARD).replace("END", "#endif\n"))
    headers("types.h", "_Static_assert(condition,", "_Static_assert(1,")  # these would report some defects first
    assert differences(GOLDEN, dump(include, V1_0)) == []
    found = breaks(GOLDEN, dump(include, V1_1))
    for report in reports:
        assert any(line.startswith(report) for line in found), "\n".join(found)


def test_what_may_be_added_in_a_later_version(headers):
    headers("version.h", *LATER["version.h"])
    more = GUARD + "    const float* planted;\n#endif\n"
    headers("types.h", "    const double* doubles;\n", more + "    const double* doubles;\n")
    include = headers("autograd.h", "} lamella_derivative;", GUARD + "  void* planted;\n#endif\n} lamella_derivative;")
    now = dump(include, V1_1)
    assert differences(GOLDEN, dump(include, V1_0)) == breaks(GOLDEN, now) == []
    different = [line.split(": ", 1)[1] for line in differences(GOLDEN, now)]
    assert sorted(key(line) for line in different) == [
        "struct lamella_derivative.planted",
        "struct lamella_value.as.planted",
    ]


USES = """
#include <lamella/c_api.h>
lamella_status lamella_plugin_init(const lamella_api* api) { return api->planted(LAMELLA_PLANTED_ERROR); }
"""


def compile_against(include, folder, *flags):
    (folder / "uses.c").write_text(USES)
    return compiles("gcc", "-fsyntax-only", "-I", include, *flags, folder / "uses.c")


def test_a_target_version_hides_what_is_newer(later, tmp_path):
    assert compile_against(later, tmp_path).returncode == 0
    hidden = compile_against(later, tmp_path, "-DLAMELLA_TARGET_VERSION=LAMELLA_MAKE_VERSION(1,0)")
    assert "no member named 'planted'" in hidden.stderr.replace("‘", "'").replace("’", "'")
    assert "LAMELLA_PLANTED_ERROR" in hidden.stderr


@pytest.mark.parametrize(
    "target, words", [(hex(V1_1 + minor_of(SOURCE)), "newer than these headers"), ("0x9", "older major version")]
)
def test_a_target_version_that_the_headers_do_not_have(target, words, tmp_path):
    refused = compile_against(SOURCE, tmp_path, f"-DLAMELLA_TARGET_VERSION={target}")
    assert refused.returncode != 0 and words in refused.stderr
