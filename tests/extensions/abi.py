"""The C ABI as the compiler sees it: each field's offset, size and signature, each enumerator's value, as text.

``python abi.py INCLUDE [VERSION]`` prints them; ``abi_1_0.txt`` holds those of version 1.0, and nothing rewrites it.
The headers are read after the preprocessor (so that LATTIS_TARGET_VERSION counts), and a small program that is compiled
against them says the numbers.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

HEADERS = ("program.h",)
GROWS_AT_ITS_END = ("lattis_tensor",)  # made by the library alone; other structs that may grow begin with their size
FIELD = re.compile(r"^(?P<type>.*?)\b(?P<name>\w+)(?P<array>(\[[^\]]*\])?)$")
POINTER = re.compile(r"^(?P<returns>.*?)\(\*(?P<name>\w+)\)(?P<parameters>\(.*\))$")


def preprocessed(include: Path, version: int) -> str:
    """The text of the public headers alone, without those of the system."""
    text = "".join(f"#include <lattis/{h}>\n" for h in HEADERS)
    command = ("gcc", "-E", "-x", "c", "-std=c11", f"-DLATTIS_TARGET_VERSION={version}", "-I", str(include), "-")
    out = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    ours, kept = False, []
    for line in out.splitlines():
        if marker := re.match(r'# \d+ "([^"]*)"', line):
            ours = Path(marker[1]).parent.name == "lattis"
        elif ours:
            kept.append(line)
    return " ".join(" ".join(kept).split())


def split(text: str, separator: str) -> list[str]:
    """Split at separators outside parentheses."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == separator and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [p.strip() for p in (*parts, text[start:]) if p.strip()]


def signature(text: str) -> str:
    """A type without the names of its parameters, in one spelling."""
    text = text.strip()
    if pointer := re.match(r"^(.*?)\((\*?)(\w*)\)(\(.*\))$", text):
        parameters = ", ".join(signature(p) for p in split(pointer[4][1:-1], ","))
        return f"{signature(pointer[1])} ({pointer[2]})({parameters})"
    words = re.findall(r"\w+|\*", text)
    if len(words) > 1 and words[-1] != "*" and words[-2] not in ("const", "struct", "unsigned"):
        words.pop()  # the parameter's name
    return " ".join(words)


def structs(text: str) -> dict[str, list[tuple[str, str]]]:
    """Name -> (field, signature) of every struct and of the unions in them."""
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
        elif plain := FIELD.match(declaration):
            yield plain["name"], " ".join(re.findall(r"\w+|\*", plain["type"])) + plain["array"]
        else:
            raise ValueError(f"abi.py does not understand the field {declaration!r}")


def dump(include: Path, version: int = 0x10000) -> list[str]:
    """The lines for the headers in a folder, as a library of that target version sees them."""
    text = preprocessed(include, version)
    lines, numbers = [], []  # numbers: expressions for the %s of the lines

    def add(line: str, *expressions: str) -> None:
        lines.append(line)
        numbers.extend(expressions)

    for name, body in re.findall(r"enum (\w+) \{([^{}]*)\}", text):
        for item in split(body, ","):
            add(f"enum {name} {item.split('=')[0].strip()} = %lld", item.split("=")[0])
    constants = re.findall(r"#define (LATTIS_MAX_\w+) ", "".join(p.read_text() for p in include.glob("lattis/*.h")))
    for name in sorted(set(constants)):
        add(f"define {name} %lld", name)
    for returns, name, parameters in re.findall(r"typedef ([\w *]+?)\(\*(\w+)\)(\((?:[^()]|\([^()]*\))*\));", text):
        add(f"typedef {name}: {signature(f'{returns}(*){parameters}')}")
    for kind, name in re.findall(r"typedef (u?int\d+_t|struct \w+) (\w+);", text):
        add(f"typedef {name}: {kind}")
    for returns, name, parameters in re.findall(r"(?<=[;}]) (const \w+ ?\*|\w+) ?(lattis_\w+)(\([^()]*\))(?=;)", text):
        add(f"function {name}: {signature(f'{returns}(){parameters}')}")
    for name, all_fields in structs(text).items():
        if all_fields[0] != ("size", "uint32_t") and name not in GROWS_AT_ITS_END:
            add(f"struct {name} of %lld bytes, for ever", f"sizeof({name})")
        for field, kind in all_fields:
            expressions = (f"offsetof({name}, {field})", f"sizeof((({name}*)0)->{field})")
            add(f"struct {name}.{field} at %lld, %lld bytes: {kind}", *expressions)
    return measure(include, version, lines, numbers)


def measure(include: Path, version: int, lines: list[str], numbers: list[str]) -> list[str]:
    head = "".join(f"#include <lattis/{h}>\n" for h in HEADERS) + "#include <stddef.h>\n#include <stdio.h>\n"
    values = "".join(f"  (long long)({n}),\n" for n in numbers)
    body = f"static const long long all[] = {{\n{values}}};\n"
    body += "int main(void) { for (unsigned i = 0; i < sizeof all / 8; i++) printf(\"%lld\\n\", all[i]); }\n"
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "abi.c"), Path(folder, "abi")
        source.write_text(head + body)
        target = f"-DLATTIS_TARGET_VERSION={version}"
        subprocess.run(("gcc", "-std=c11", target, "-I", str(include), str(source), "-o", str(program)), check=True)
        said = iter(subprocess.run((str(program),), capture_output=True, text=True, check=True).stdout.split())
    return [re.sub("%lld", lambda _: next(said), line) for line in lines]


def key(line: str) -> str:
    """What a line is about: all but its numbers and its type."""
    return re.split(r" = | at | of \d|: | (?=\d+$)", line)[0]


def differences(golden: list[str], now: list[str]) -> list[str]:
    """What no longer is as it was, one line each: moved, retyped, renumbered, taken away or added."""
    before, after = {key(line): line for line in golden}, {key(line): line for line in now}
    found = [f"taken away: {line}" for k, line in before.items() if k not in after]
    found += [f"changed: {line}  ->  {after[k]}" for k, line in before.items() if k in after and after[k] != line]
    found += [f"added without #if LATTIS_TARGET_VERSION: {line}" for k, line in after.items() if k not in before]
    return found


if __name__ == "__main__":
    print("\n".join(dump(Path(sys.argv[1]), int(sys.argv[2], 0) if len(sys.argv) > 2 else 0x10000)))
