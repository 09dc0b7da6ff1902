"""``lamella run``: runs programs that ``import torch`` with Lamella as the module torch.

``names.py`` maps torch's modules to Lamella's, ``program.py`` runs a program as python does, and ``check.py`` lists the
names of torch that a program uses and Lamella does not have, and the calls that raise, by ``calls.py`` for a call and
``conditions.py`` for the conditions around it.
"""

from __future__ import annotations

import sys

from lamella._torch.run.names import stand_in
from lamella._torch.run.program import Program, find_module, find_script, run

__all__ = ["USAGE", "main"]

USAGE = """usage: lamella run [--check] SCRIPT [ARG ...]
       lamella run [--check] -m MODULE [ARG ...]
       lamella run --nproc N [FLAG ...] SCRIPT [ARG ...]

Runs a program that says `import torch`, with Lamella in its place.

  SCRIPT     a file, or a folder or zip with __main__.py, as of python
  -m MODULE  a module, as of python -m
  --nproc N  runs it in several processes, as `lamella launch` does, whose flags may follow
  --check    lists what the program, and the modules of its folder that it imports, would miss, and the calls that
             raise whatever their values are; nothing is run. The exit status is 0 if that is nothing, else 1
"""


def main(words: list[str]) -> int:
    """Runs the words after ``lamella run`` on the command line; returns the exit status."""
    if words and words[0].partition("=")[0] in ("--nproc", "--nproc-per-node", "--nproc_per_node"):
        import lamella

        return lamella.distributed.launch.main(words, runs_torch=True)
    rest, check = list(words), False
    while rest and rest[0] in ("--check", "-h", "--help"):
        if rest.pop(0) != "--check":
            print(USAGE, end="")
            return 0
        check = True
    as_module = bool(rest) and (rest[0] == "-m" or (rest[0].startswith("-m") and len(rest[0]) > 2))
    if as_module:
        given = rest.pop(0)
        rest = rest if given == "-m" else [given[2:], *rest]
    if not rest or (rest[0].startswith("-") and not as_module):
        wrong = f"there is no option {rest[0]!r}" if rest else "which program?"
        print(f"{USAGE}\nlamella run: {wrong}", file=sys.stderr)
        return 2
    try:
        stand_in()
    except RuntimeError as error:
        print(f"lamella: {error}", file=sys.stderr)
        return 1
    program: Program | str = find_module(rest[0], imports=not check) if as_module else find_script(rest[0])
    if isinstance(program, str):
        print(f"lamella: {program}", file=sys.stderr)
        return 1 if as_module else 2
    if check:
        from lamella._torch.run.check import report

        lines = report(program)
        print("".join(f"{line}\n" for line in lines), end="")
        return 1 if lines else 0
    return run(program, rest[1:])
