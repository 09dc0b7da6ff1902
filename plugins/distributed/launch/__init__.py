"""``lamella launch``: starts the processes of a job on this machine, watches them, and starts them anew when one fails.

``options.py`` reads the command line, whose flags are torchrun's; ``workers.py`` has the processes of one machine;
``agent.py`` runs a job, together with the agents of other machines; ``start.py`` gives processes that MPI or Slurm has
started the environment that a launched one has.
"""

from __future__ import annotations

import sys

__all__ = ["main"]


def main(words: list[str], runs_torch: bool = False) -> int:
    """Runs the words after ``lamella launch`` on the command line; returns the exit status.

    Args:
        words: flags, the program, and its arguments
        runs_torch: whether the program says ``import torch``, and each process is ``lamella run``
    """
    from .options import parse

    try:
        options = parse(words, runs_torch)
    except ValueError as error:
        print(f"lamella launch: {error}", file=sys.stderr)
        return 2
    from .agent import Agent

    try:
        return Agent(options).run()
    except (OSError, RuntimeError) as error:
        print(f"lamella launch: {error}", file=sys.stderr)
        return 1
