"""Writes script.json with torch 2.13: results of programs/. Needs torch: ``python record_script.py``."""

import collections
import json
import os
import signal
import warnings

import torch
from script_programs import RECORDED, Program, load, plain, same

assert torch.__version__.startswith("2.13."), f"recorded from torch 2.13, this is {torch.__version__}"
warnings.simplefilter("ignore")
torch.set_num_threads(1)  # threads of the parent are not in a child
SECONDS = 5


def scripted(program: Program) -> list[dict]:
    """Returns the outcome of each case under torch.jit.script, or why torch refuses the program."""
    try:
        made = torch.jit.script(program.make())
    except Exception as error:  # any error is a refusal
        line = next((line for line in str(error).splitlines() if line.strip()), "")
        return [{"refused": type(error).__name__, "message": plain(line.strip())}] * len(program.cases)
    return program.outcomes(made)


def apart(program: Program) -> list[dict]:
    """Returns `scripted` of a child process: some programs end torch's process by a signal, or do not end.

    The cases of such a program are run one by one, each in a child of its own.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        os.write(writer, json.dumps(scripted(program)).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status):
        return json.loads(text)
    if len(program.cases) > 1:
        return [found for case in program.cases for found in apart(program._replace(cases=(case,)))]
    number = os.WTERMSIG(status)
    return [{"crashed": "no end" if number == signal.SIGALRM else signal.Signals(number).name}]


def record(program: Program) -> dict[str, dict]:
    """Returns the entries of one program, as `script_programs.recorded` describes them."""
    found = {}
    eagers = [{}] * len(program.cases) if program.file.stem == "refused" else program.outcomes(program.make())
    for i, (script, eager) in enumerate(zip(apart(program), eagers, strict=True)):
        entry: dict = {"script": script}
        if eager and not same(eager, script, 0.0):
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
