"""Runs pytest with the given arguments, and runs each failed test once more, alone in a fresh process.

A test that passes the second time is listed as flaky and does not fail the run; a test that fails twice does. Mend a
flaky test before any other work. After more failures than ``MOST`` no test is run again, since so many are not flaky.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

MOST = 10
COUNT = re.compile(r"(\d+) (passed|failed|skipped|error)")


def pytest(*arguments: str, keep: list[str] | None = None) -> int:
    """Runs pytest, prints its output at once, and copies the last lines to ``keep``; returns its exit status."""
    command = [sys.executable, "-m", "pytest", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            if keep is not None:
                keep[:] = [*keep[-20:], line]
    return process.returncode


def counts(lines: list[str]) -> dict[str, int]:
    """Returns the counts in pytest's closing line, by word: "passed", "failed" and so on."""
    for line in reversed(lines):
        if found := COUNT.findall(line):
            return {what: int(number) for number, what in found}
    return {}


def located(test: str) -> str:
    """Converts a test's name, whose path starts at pytest's root folder, to a path that exists from here."""
    path, colons, name = test.partition("::")
    here = Path.cwd()
    found = next((folder / path for folder in (here, *here.parents) if (folder / path).exists()), Path(path))
    return f"{found}{colons}{name}"


def seconds(report: Path) -> dict[str, float]:
    """Returns the seconds of each folder's tests from pytest's report, summed over all workers."""
    found: dict[str, float] = {}
    for case in ElementTree.parse(report).iter("testcase") if report.exists() else ():
        parts = case.get("classname", "").removeprefix("tests.").split(".")
        folder = parts[0] if len(parts) > 1 and not parts[0].startswith("test_") else "tests"
        found[folder] = found.get(folder, 0) + float(case.get("time", 0))
    return found


def run(arguments: list[str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        said: list[str] = []
        report = Path(folder, "report.xml")
        status = pytest("-o", f"cache_dir={folder}", f"--junitxml={report}", *arguments, keep=said)
        failures = Path(folder, "v", "cache", "lastfailed")
        failed = sorted(json.loads(failures.read_text())) if failures.exists() else []
        spent = sorted(seconds(report).items(), key=lambda item: -item[1])
        print("seconds of tests, of all workers together: " + ", ".join(f"{name} {s:.0f}" for name, s in spent))
        print(said[-1] if said else "", end="", flush=True)  # so that pytest's closing line is the last one
    if status != 1 or not failed or len(failed) > MOST:
        return status
    print(f"\n{len(failed)} failed; each runs once more, alone in a fresh process:", flush=True)
    os.environ["LAMELLA_SWEEP"] = "all"  # or a test that runs alone may be in another day's share
    again = [test for test in failed if pytest("-q", "-p", "no:cacheprovider", located(test)) != 0]
    flaky = [test for test in failed if test not in again]
    if flaky:
        print("\nflaky: failed once and passed alone. Mend them first:")
        print("\n".join(f"  {test}" for test in flaky))
    total = counts(said)
    print(f"\n{total.get('passed', 0) + len(flaky)} passed, {len(again)} failed", flush=True)
    return 1 if again else 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
