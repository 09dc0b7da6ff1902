"""Prints plugins/graph/builtins/unicode_tables.cpp: the properties and cases of characters, as this Python has them.

python tools/unicode_tables.py > plugins/graph/builtins/unicode_tables.cpp
"""

import sys
import unicodedata

TESTS = (
    "isalpha",
    "isdecimal",
    "isdigit",
    "isnumeric",
    "isspace",
    "isprintable",
    "islower",
    "isupper",
    "istitle",
    "isidentifier",
)
LAST = 0x110000


def traits(code: int) -> int:
    """Returns a bit for each test that the character passes, and one if it may stand within an identifier."""
    character = chr(code)
    bits = sum(1 << i for i, test in enumerate(TESTS) if getattr(character, test)())
    return bits | ("a" + character).isidentifier() << len(TESTS)


def runs() -> list[tuple[int, int, int]]:
    """Returns (first character, its traits, traits of the next one): the two alternate up to the next run."""
    all_traits = [traits(c) for c in range(LAST)]
    out, c = [], 0
    while c < LAST:
        same = alternating = 1
        while c + same < LAST and all_traits[c + same] == all_traits[c]:
            same += 1
        while c + alternating < LAST and (
            alternating < 2 or all_traits[c + alternating] == all_traits[c + alternating - 2]
        ):
            alternating += 1
        if same >= alternating or alternating < 4:
            out.append((c, all_traits[c], all_traits[c]))
            c += same
        else:
            out.append((c, all_traits[c], all_traits[c + 1]))
            c += alternating
    return out


def shifts(mapping: dict[int, str]) -> list[list[int]]:
    """Returns [first, last, step, shift] for characters that become the one `shift` behind them."""
    out: list[list[int]] = []
    for c, to in sorted(mapping.items()):
        if len(to) != 1:
            continue
        shift = ord(to) - c
        last = out[-1] if out else None
        if last and last[3] == shift and (c - last[1] == last[2] or (last[0] == last[1] and c - last[1] <= 2)):
            last[1], last[2] = c, c - last[1]
        else:
            out.append([c, c, 1, shift])
    return out


def lines(items: list[str]) -> str:
    """Returns the items with commas, in lines of at most 120 characters."""
    out, line = [], "   "
    for item in items:
        if len(line) + len(item) + 2 > 120:
            out.append(line)
            line = "   "
        line += f" {item},"
    return "\n".join([*out, line])


def text(characters: str) -> str:
    return '"' + "".join(f"\\x{b:02x}" for b in characters.encode()) + '"'


def main() -> None:
    characters = [chr(c) for c in range(LAST)]
    upper = {ord(c): c.upper() for c in characters if c.upper() != c}
    lower = {ord(c): c.lower() for c in characters if c.lower() != c}
    title = {ord(c): c.title() for c in characters if c.title() != c.upper()}
    table = runs()
    kinds = sorted({t for run in table for t in run[1:]})
    assert len(kinds) < 32
    print(f"// The characters of Unicode {unicodedata.unidata_version}. Made by tools/unicode_tables.py; do not edit.")
    print("// clang-format off")
    print('#include "builtins/unicode.h"\n\nnamespace lamella::graph::unicode {\n')
    print("// Sets of enum Trait.")
    print(f"const uint16_t trait_sets[] = {{\n{lines([hex(k) for k in kinds])}\n}};\n")
    print("// First character << 10 | number of its set << 5 | number of the next one's set: the two alternate.")
    packed = [hex(c << 10 | kinds.index(a) << 5 | kinds.index(b)) for c, a, b in table]
    print(f"const uint32_t trait_runs[] = {{\n{lines(packed)}\n}};")
    print("const size_t num_trait_runs = sizeof trait_runs / sizeof *trait_runs;")
    for name, mapping in (("upper", upper), ("lower", lower), ("title", title)):
        rows = [f"{{{a:#x}, {b:#x}, {step}, {shift}}}" for a, b, step, shift in shifts(mapping)]
        print(f"\nconst Shift {name}_shifts[] = {{\n{lines(rows)}\n}};")
        print(f"const size_t num_{name}_shifts = sizeof {name}_shifts / sizeof *{name}_shifts;")
    for name, mapping in (("upper", upper), ("lower", lower), ("title", title)):
        rows = [f"{{{c:#x}, {text(to)}}}" for c, to in sorted(mapping.items()) if len(to) > 1]
        print(f"\nconst Expansion {name}_expansions[] = {{\n{lines(rows)}\n}};")
        print(f"const size_t num_{name}_expansions = sizeof {name}_expansions / sizeof *{name}_expansions;")
    print("\n}  // namespace lamella::graph::unicode")


if __name__ == "__main__":
    sys.exit(main())
