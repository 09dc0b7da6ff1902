"""Writes golden/vN_*.lamella, files of the version of this build, with golden/vN.json: the calls and torch's results.

A file of an older version is never written again: the tests read all of them. ``python record_golden.py`` adds those of
the newest version.
"""

from __future__ import annotations

import json
from pathlib import Path

import lamella
from lamella.plugins.graph.jit.saving import VERSION
from script_programs import FILES, encode, load_file, recorded

FOLDER = Path(__file__).resolve().parent / "golden"
# Functions and modules with state, loops, branches, containers, named tuples and several types of attributes.
PROGRAMS = (
    "dicts.count_letters",
    "early_return.in_nested_loops",
    "formatting.f_string",
    "loops.while_true_with_break",
    "modules.ControlFlow",
    "modules.CountsInABuffer",
    "modules.CountsInAnAttribute",
    "modules.LoopsOverAModuleDict",
    "modules.RecurrentCell",
    "modules.TwoLayers",
    "optional.refined_by_or",
    "tuples.named_rebuilt",
)


def main() -> None:
    results, written = recorded(), {}
    FOLDER.mkdir(exist_ok=True)
    for file in FILES:
        for program in load_file(lamella, file):
            entries = [results[f"{program.name}[{i}]"]["script"] for i in range(len(program.cases))]
            if program.name not in PROGRAMS:
                continue
            name = f"v{VERSION}_{program.name.replace('.', '_')}.lamella"
            lamella.jit.save(lamella.jit.script(program.make()), FOLDER / name, hashes=True)
            method = program.method if isinstance(program.function, type) else "__call__"
            written[name] = [
                {"method": method, "inputs": [encode(x) for x in case], "result": entry}
                for case, entry in zip(program.cases, entries, strict=True)
            ]
            print(name, (FOLDER / name).stat().st_size, "bytes")
    lines = [f"{json.dumps(name)}: {json.dumps(calls)}" for name, calls in sorted(written.items())]
    (FOLDER / f"v{VERSION}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
