"""The C ABI is append-only: what version 1.0 had is where it was, and what comes later is hidden from those who ask."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from abi import differences, dump, key
from native import TOP, compiles

SOURCE = TOP / "extensions" / "include"
GOLDEN = (Path(__file__).parent / "abi_1_0.txt").read_text().splitlines()
V1_0 = 0x10000


@pytest.fixture
def headers(tmp_path):
    """A copy of the public headers, and how to edit a file of it."""
    shutil.copytree(SOURCE, tmp_path / "include")

    def edit(name, before, after):
        path = tmp_path / "include" / "lattis" / name
        text = path.read_text()
        assert before in text, f"{name} has no {before!r}; plant the defect elsewhere"
        path.write_text(text.replace(before, after, 1))
        return tmp_path / "include"

    return edit


def test_nothing_of_version_1_0_has_changed():
    assert differences(GOLDEN, dump(SOURCE, V1_0)) == []


def test_the_golden_file_holds_what_matters():
    """The table's entries in their order, each pointer's signature, and no line that another hides."""
    text = (SOURCE / "lattis" / "c_api.h").read_text()
    table = text[text.index("struct lattis_api {") : text.index("here ends version 1.0")]
    entries = re.findall(r"^  [\w ]+[ *]+\(\*(\w+)\)\(", table, re.MULTILINE)
    there = [re.match(r"struct lattis_api\.(\w+) at (\d+), 8 bytes: .*\(\*\)\(", line) for line in GOLDEN]
    offsets = {m[1]: int(m[2]) for m in there if m}
    assert list(offsets) == entries and len(entries) > 70
    assert list(offsets.values()) == [16 + 8 * i for i in range(len(entries))]
    assert len(GOLDEN) == len({key(line) for line in GOLDEN})


def padded(include):
    """Names of structs that end with padding, where a field of a later version would find what nobody has set."""
    text = "#include <lattis/program.h>\n"
    command = ("gcc", "-fsyntax-only", "-Wpadded", "-x", "c", "-I", str(include), "-")
    said = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stderr
    return re.findall(r"padding struct size to alignment boundary.*\n.*\} (\w+);", said)


def test_no_struct_ends_with_padding(headers):
    assert padded(SOURCE) == []
    planted = headers("c_api.h", "  int32_t line;\n  uint32_t reserved;", "  int32_t line;")
    assert padded(planted) == ["lattis_operator_def"]


DEFECTS = {
    "swapped entries": (
        "c_api.h",
        "  void* (*storage_data)(const lattis_storage*);\n  int64_t (*storage_bytes)(const lattis_storage*);",
        "  int64_t (*storage_bytes)(const lattis_storage*);\n  void* (*storage_data)(const lattis_storage*);",
        ["changed: struct lattis_api.storage_data at", "changed: struct lattis_api.storage_bytes at"],
    ),
    "an entry in the middle": (
        "c_api.h",
        "  void (*retain)(void* object);",
        "  void (*pin)(void* object);\n  void (*retain)(void* object);",
        ["added without #if LATTIS_TARGET_VERSION: struct lattis_api.pin", "changed: struct lattis_api.retain at"],
    ),
    "another signature": (
        "c_api.h",
        "lattis_status (*withdraw)(lattis_handle);",
        "lattis_status (*withdraw)(const lattis_handle*);",
        ["changed: struct lattis_api.withdraw"],
    ),
    "a narrower parameter": (
        "c_api.h",
        "lattis_status (*raise)(int32_t kind,",
        "lattis_status (*raise)(uint8_t kind,",
        ["changed: struct lattis_api.raise at"],
    ),
    "a lost const": (
        "c_api.h",
        "const char* (*backend_name)(int32_t id);",
        "char* (*backend_name)(int32_t id);",
        ["changed: struct lattis_api.backend_name"],
    ),
    "a narrowed field": (
        "types.h",
        "  uint64_t include; /* layers",
        "  uint32_t include; /* layers",
        ["changed: struct lattis_thread.include at 8, 8 bytes"],
    ),
    "a field at the end of a struct that cannot grow": (
        "c_api.h",
        "} lattis_meta;",
        "  int64_t more;\n} lattis_meta;",
        ["changed: struct lattis_meta of 1072 bytes, for ever"],
    ),
    "a field at the end, without the guard": (
        "c_api.h",
        "} lattis_backend;",
        "  int64_t more;\n} lattis_backend;",
        ["added without #if LATTIS_TARGET_VERSION: struct lattis_backend.more"],
    ),
    "a renumbered enumerator": (
        "types.h",
        "LATTIS_VALUE_ERROR = 3",
        "LATTIS_VALUE_ERROR = 33",
        ["changed: enum lattis_error_kind LATTIS_VALUE_ERROR = 3  ->"],
    ),
    "an enumerator taken away": (
        "c_api.h",
        ", LATTIS_ABSENT_HIGHEST = 2",
        "",
        ["taken away: enum lattis_absent LATTIS_ABSENT_HIGHEST = 2"],
    ),
    "another number of dimensions": (
        "types.h",
        "#define LATTIS_MAX_DIMS 64",
        "#define LATTIS_MAX_DIMS 65",
        ["changed: define LATTIS_MAX_DIMS 64", "changed: struct lattis_meta of 1072 bytes"],
    ),
    "another callback": (
        "c_api.h",
        "(*lattis_body)(void* context, int64_t begin, int64_t end)",
        "(*lattis_body)(int64_t begin, int64_t end, void* context)",
        ["changed: typedef lattis_body"],
    ),
    "another width of the status": (
        "types.h",
        "typedef int32_t lattis_status",
        "typedef int64_t lattis_status",
        ["changed: typedef lattis_status"],
    ),
    "another exported function": (
        "program.h",
        "lattis_status lattis_load_plugin(const char* path);",
        "lattis_status lattis_load_plugin(const char* path, int32_t flags);",
        ["changed: function lattis_load_plugin"],
    ),
    "another member of a value": (
        "types.h",
        "    const double* doubles;",
        "    const float* doubles;",
        ["changed: struct lattis_value.as.doubles"],
    ),
}


@pytest.mark.parametrize("name", DEFECTS)
def test_a_planted_defect_is_reported(name, headers):
    file, before, after, reports = DEFECTS[name]
    include = headers(file, before, after)
    headers("types.h", "_Static_assert(condition,", "_Static_assert(1,")  # which would say some of it first
    found = differences(GOLDEN, dump(include, V1_0))
    for report in reports:
        assert any(line.startswith(report) for line in found), "\n".join(found)


def test_names_of_parameters_are_no_part_of_it(headers):
    before, after = "(*raise)(int32_t kind, const char* message)", "(*raise)(int32_t what, const char* why)"
    include = headers("c_api.h", before, after)
    assert differences(GOLDEN, dump(include, V1_0)) == []


# ---- the next minor version, planted --------------------------------------------------------------------------------

GUARD = "#if LATTIS_TARGET_VERSION >= LATTIS_MAKE_VERSION(1, 1)\n"
LATER = {  # as a person would append to 1.0
    "version.h": ("#define LATTIS_ABI_MINOR 0", "#define LATTIS_ABI_MINOR 1"),
    "c_api.h": (
        "  /* ---- here ends version 1.0; what comes later is appended ---- */\n",
        GUARD + "  lattis_status (*planted)(int64_t);\n#endif\n",
    ),
    "types.h": ("  LATTIS_HOST_ERROR = 11", GUARD + "  LATTIS_PLANTED_ERROR = 12,\n#endif\n  LATTIS_HOST_ERROR = 11"),
}


@pytest.fixture
def later(headers):
    for name, (before, after) in LATER.items():
        include = headers(name, before, after)
    return include


def test_a_later_entry_leaves_the_earlier_version_alone(later):
    assert differences(GOLDEN, dump(later, V1_0)) == []
    now = dump(later, V1_0 + 1)
    added = differences(GOLDEN, now)
    assert [line.split(": ")[1].split(" at ")[0].split(" = ")[0] for line in added] == [
        "enum lattis_error_kind LATTIS_PLANTED_ERROR",
        "struct lattis_api.planted",
    ]


USES = """
#include <lattis/c_api.h>
lattis_status lattis_plugin_init(const lattis_api* api) { return api->planted(LATTIS_PLANTED_ERROR); }
"""


def compile_against(include, folder, *flags):
    (folder / "uses.c").write_text(USES)
    return compiles("gcc", "-fsyntax-only", "-I", include, *flags, folder / "uses.c")


def test_a_target_version_hides_what_is_newer(later, tmp_path):
    assert compile_against(later, tmp_path).returncode == 0
    hidden = compile_against(later, tmp_path, "-DLATTIS_TARGET_VERSION=LATTIS_MAKE_VERSION(1,0)")
    assert "no member named 'planted'" in hidden.stderr.replace("‘", "'").replace("’", "'")
    assert "LATTIS_PLANTED_ERROR" in hidden.stderr


@pytest.mark.parametrize("target, words", [("0x10001", "newer than these headers"), ("0x9", "older major version")])
def test_a_target_version_that_the_headers_do_not_have(target, words, tmp_path):
    refused = compile_against(SOURCE, tmp_path, f"-DLATTIS_TARGET_VERSION={target}")
    assert refused.returncode != 0 and words in refused.stderr
