"""Prints the C ABI as the compiler sees it: each field's offset, size and signature, each enumerator's value.

``python abi.py INCLUDE [VERSION]`` prints them; ``abi_1_0.txt`` holds those of version 1.0, and nothing rewrites it.
When a minor version is finished, a person makes its file with this command, once. The headers are read after the
preprocessor (so that LAMELLA_TARGET_VERSION applies), and a small program that is compiled with them gives the numbers.
"""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

HEADERS = ("program.h", "archive.h", "autograd.h", "python.h")
INCLUDES = "".join(f"#include <lamella/{h}>\n" for h in HEADERS)
GROWS_AT_ITS_END = ("lamella_tensor",)  # made by the library alone; other structs that may grow begin with their size
CONSTANT = re.compile(r"#define (LAMELLA_(?:MAX|PYTHON)_\w+|LAMELLA_PLAIN_DTYPES|DLPACK_FLAG_\w+) +(.*)")
FIELD = re.compile(r"^(?P<type>.*?)\b(?P<name>\w+)(?P<array>(\[[^\]]*\])?)$")
PLACED = re.compile(r"struct (?P<struct>\w+)\.(?P<name>[\w.]+) at (?P<at>\d+), (?P<bytes>\d+) bytes")
NUMBERED = re.compile(r"enum (?P<enum>\w+) (?P<name>\w+) = (?P<value>-?\d+)")
POINTER = re.compile(r"^(?P<returns>.*?)\(\*(?P<name>\w+)\)(?P<parameters>\(.*\))$")


def gcc(include: Path, version: int, *more: str, text: str | None = None) -> subprocess.CompletedProcess:
    folders = ("-I", str(include), "-isystem", sysconfig.get_path("include"))
    command = ("gcc", "-std=c11", f"-DLAMELLA_TARGET_VERSION={version}", *folders, *more)
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True)


def preprocessed(include: Path, version: int) -> str:
    """Returns the text of the public headers, without those of the system."""
    out = gcc(include, version, "-E", "-x", "c", "-", text=INCLUDES).stdout
    ours, kept = False, []
    for line in out.splitlines():
        if marker := re.match(r'# \d+ "([^"]*)"', line):
            ours = Path(marker[1]).parent.name == "lamella"
        elif ours:
            kept.append(line)
    return " ".join(" ".join(kept).split())


def split(text: str, separator: str) -> list[str]:
    """Splits a text at separators outside parentheses."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == separator and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [p.strip() for p in (*parts, text[start:]) if p.strip()]


def signature(text: str) -> str:
    """Returns a type in one spelling. It includes parameters' names, which show if two of one type change places."""
    if pointer := re.match(r"^(.*?)\((\*?\w*)\)(\(.*\))$", text.strip()):
        parameters = ", ".join(signature(p) for p in split(pointer[3][1:-1], ","))
        return f"{signature(pointer[1])} ({pointer[2]})({parameters})"
    return " ".join(re.findall(r"\w+|\*", text))


def structs(text: str) -> dict[str, list[tuple[str, str]]]:
    """Returns name -> (field, signature) of every struct and of the unions in them."""
    found = {}
    for body, name in re.findall(r"typedef struct(?: \w+)? \{((?:[^{}]|\{[^{}]*\})*)\} (\w+);", text):
        found[name] = body
    for name, body in re.findall(r"(?<!typedef )struct (\w+) \{([^{}]*)\};", text):
        found[name] = body
    return {name: list(fields(body)) for name, body in found.items()}


def fields(body: str):
    for union, name in re.findall(r"union \{([^{}]*)\} (\w+);", body):
        yield name, "union"
        for inner, kind in fields(union):
            yield f"{name}.{inner}", kind
    for declaration in split(re.sub(r"union \{[^{}]*\} \w+;", "", body), ";"):
        if pointer := POINTER.match(declaration):
            yield pointer["name"], signature(f"{pointer['returns']}(*){pointer['parameters']}")
            continue
        first, *others = split(declaration, ",")
        if not (plain := FIELD.match(first)) or any("*" in o for o in others):
            raise ValueError(f"abi.py does not understand the field {declaration!r}")
        for name in (plain["name"], *others):
            yield name, " ".join(re.findall(r"\w+|\*", plain["type"])) + plain["array"]


def dump(include: Path, version: int = 0x10000) -> list[str]:
    """Returns the lines for the headers in a folder, as a library of that target version sees them."""
    text = preprocessed(include, version)
    lines, numbers = [], []  # expressions that fill the lines' %s

    def add(line: str, *expressions: str) -> None:
        lines.append(line)
        numbers.extend(expressions)

    enums = re.findall(r"enum (\w+) \{([^{}]*)\}", text)
    enums += [(name, body) for body, name in re.findall(r"typedef enum \{([^{}]*)\} (\w+);", text)]
    for name, body in enums:
        for item in split(body, ","):
            add(f"enum {name} {item.split('=')[0].strip()} = %lld", item.split("=")[0])
    constants = CONSTANT.findall("".join(p.read_text() for p in include.glob("lamella/*.h")))
    for name, value in sorted(dict(constants).items()):
        if value.startswith('"'):
            add(f"define {name} = {value}")
        else:
            add(f"define {name} = %lld", name)
    for returns, name, parameters in re.findall(r"typedef ([\w *]+?)\(\*(\w+)\)(\((?:[^()]|\([^()]*\))*\));", text):
        add(f"typedef {name}: {signature(f'{returns}(*){parameters}')}")
    for kind, name in re.findall(r"typedef (u?int\d+_t|struct \w+) (\w+);", text):
        add(f"typedef {name}: {kind}")
    for returns, name, parameters in re.findall(r"(?<=[;}]) (const \w+ ?\*|\w+) ?(lamella_\w+)(\([^()]*\))(?=;)", text):
        add(f"function {name}: {signature(f'{returns}(){parameters}')}")
    for name, all_fields in structs(text).items():
        if all_fields[0] != ("size", "uint32_t") and name not in GROWS_AT_ITS_END:
            add(f"struct {name} of %lld bytes, for ever", f"sizeof({name})")
        for field, kind in all_fields:
            expressions = (f"offsetof({name}, {field})", f"sizeof((({name}*)0)->{field})")
            add(f"struct {name}.{field} at %lld, %lld bytes: {kind}", *expressions)
    return measure(include, version, lines, numbers)


def measure(include: Path, version: int, lines: list[str], numbers: list[str]) -> list[str]:
    values = "".join(f"  (long long)({n}),\n" for n in numbers)
    body = f"#include <stddef.h>\n#include <stdio.h>\nstatic const long long all[] = {{\n{values}}};\n"
    body += 'int main(void) { for (unsigned i = 0; i < sizeof all / 8; i++) printf("%lld\\n", all[i]); }\n'
    with tempfile.TemporaryDirectory() as folder:
        source, program, note = Path(folder, "abi.c"), Path(folder, "abi"), Path(folder, "note")
        source.write_text(INCLUDES + body)
        gcc(include, version, str(source), "-o", str(program))
        said = iter(subprocess.run((str(program),), capture_output=True, text=True, check=True).stdout.split())
        objcopy = ("objcopy", "-O", "binary", "--only-section=.note.lamella", str(program), str(note))
        subprocess.run(objcopy, capture_output=True, check=True)
        stamp = note.read_bytes().hex() if note.exists() else ""
    measured = [re.sub("%lld", lambda _: next(said), line) for line in lines]
    target = b"".join(n.to_bytes(4, "little") for n in (version >> 16, version & 0xFFFF)).hex()
    return [*measured, f"section .note.lamella = {stamp.removesuffix(target)} major minor"]


def key(line: str) -> str:
    """Returns a line's subject: all but its numbers and its type."""
    return re.split(r" = | at | of \d|: ", line)[0]


def differences(golden: list[str], now: list[str]) -> list[str]:
    """Returns the changes, one line each: moved, retyped, renumbered, removed or added."""
    before, after = {key(line): line for line in golden}, {key(line): line for line in now}
    found = [f"taken away: {line}" for k, line in before.items() if k not in after]
    found += [f"changed: {line}  ->  {after[k]}" for k, line in before.items() if k in after and after[k] != line]
    found += [f"added without #if LAMELLA_TARGET_VERSION: {line}" for k, line in after.items() if k not in before]
    return found


def breaks(older: list[str], newer: list[str]) -> list[str]:
    """Returns the changes that break plugins of ``older`` on a library with the lines ``newer``."""
    found = []
    for line in differences(older, newer):
        kind = line.partition(": ")[0]
        if kind in ("changed", "taken away"):
            found.append(line)
    known = {key(line) for line in older}
    ends: dict[str, int] = {}
    taken = {}  # (enum, number) -> its name
    for line in older:
        if field := PLACED.match(line):
            ends[field["struct"]] = max(ends.get(field["struct"], 0), int(field["at"]) + int(field["bytes"]))
        elif number := NUMBERED.match(line):
            taken[number["enum"], number["value"]] = number["name"]
    for line in newer:
        if key(line) in known:
            continue
        if field := PLACED.match(line):
            inside = f"struct {field['struct']}.{field['name'].rpartition('.')[0]}" in known  # a new member of a union
            if int(field["at"]) < ends.get(field["struct"], 0) and not inside:
                found.append(f"not at the end: {line}")
        elif (number := NUMBERED.match(line)) and (name := taken.get((number["enum"], number["value"]))):
            found.append(f"the number of {name}: {line}")
    return found


if __name__ == "__main__":
    print("\n".join(dump(Path(sys.argv[1]), int(sys.argv[2], 0) if len(sys.argv) > 2 else 0x10000)))
