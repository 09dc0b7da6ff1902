"""Writes script.json and torch_graphs/ with torch 2.13. Needs torch: ``python record_script.py``."""

import collections
import json
import warnings

import torch
from script_programs import HERE, RECORDED, Program, load, outcome, plain  # noqa: F401


assert torch.__version__.startswith("2.13."), f"recorded from torch 2.13, this is {torch.__version__}"
warnings.simplefilter("ignore")


def scripted(program: Program) -> list[dict]:
    """Returns the outcome of each case under torch.jit.script, or why torch refuses the program."""
    try:
        made = torch.jit.script(program.make())
    except Exception as error:  # noqa: BLE001 - the refusal is the result
        line = next((line for line in str(error).splitlines() if line.strip()), "")
        return [{"refused": type(error).__name__, "message": plain(line.strip())}] * len(program.cases)
    return program.outcomes(made)


def record(program: Program) -> dict[str, dict]:
    """Returns the entries of one program, as `script_programs.recorded` describes them."""
    found = {}
    for i, (script, eager) in enumerate(zip(scripted(program), program.outcomes(program.make()), strict=True)):
        entry: dict = {"script": script}
        if eager != script:
            entry["eager"] = eager
            if "refused" not in script and not ("error" in script and "error" in eager):
                entry["differs"] = True
        found[f"{program.name}[{i}]"] = entry
    return found


if __name__ == "__main__":
    programs = load(torch)
    entries = {name: entry for program in programs for name, entry in record(program).items()}
    lines = [f"{json.dumps(name)}: {json.dumps(entry, allow_nan=False)}" for name, entry in sorted(entries.items())]
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    kinds = collections.Counter(next(iter(entry["script"])) for entry in entries.values())
    differ = sum("differs" in entry for entry in entries.values())
    print(f"{len(programs)} programs, {len(entries)} cases: {dict(kinds)}; {differ} differ from plain Python")
    folder = HERE / "torch_graphs"
    folder.mkdir(exist_ok=True)
    for name, text in graphs().items():
        (folder / f"{name}.txt").write_text(plain(text))
