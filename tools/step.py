"""Runs one step of the Makefile, and prints a line with the step's name, its progress and its seconds.

``python tools/step.py "build and install lamella" command ...`` converts a build's lines such as ``[120/240]`` to a
percentage. Other output of the command is printed only if the command fails, or at once with ``--show``.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time

PROGRESS = re.compile(rb"^\s*\[(\d+)/(\d+)\]")


def say(text: str, end: str = "\n") -> None:
    print(text, end=end, flush=True)


def run(name: str, command: list[str]) -> int:
    """Runs the command and prints its output only if it fails; returns its exit status."""
    say(f"-- {name}", end="")
    start, shown = time.monotonic(), 0
    said: list[bytes] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        assert process.stdout is not None
        for line in process.stdout:
            said.append(line)
            if (found := PROGRESS.match(line)) and int(found[2]) >= 20:
                percent = 100 * int(found[1]) // int(found[2]) // 10 * 10
                if percent > shown:
                    shown = percent
                    say(f" {percent} %", end="")
    if process.returncode:
        say(f" failed with status {process.returncode}; it said:")
        sys.stdout.buffer.write(b"".join(said))
        sys.stdout.flush()
    else:
        say(f" ({time.monotonic() - start:.0f} s)")
    return process.returncode


def show(name: str, command: list[str]) -> int:
    """Runs the command with its output printed at once; returns its exit status."""
    say(f"-- {name}")
    start = time.monotonic()
    status = subprocess.run(command).returncode
    say(f"   ({time.monotonic() - start:.0f} s)")
    return status


if __name__ == "__main__":
    arguments = sys.argv[1:]
    runner = run
    if arguments[:1] == ["--show"]:
        runner, arguments = show, arguments[1:]
    sys.exit(runner(arguments[0], arguments[1:]))
