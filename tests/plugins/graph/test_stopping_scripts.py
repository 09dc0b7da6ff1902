"""Scripts that would not end: Ctrl-C stops their loops, and their recursion has a bound."""

import signal
import subprocess
import sys
import time

import lamella
import pytest
from lamella import jit

ENDLESS = """
import lamella
from lamella import jit


def numbers(x, n: int):
    while True:
        n = (n + 1) % 1000
    return x


def tensors(x, n: int):
    while bool(x.sum() > -1.0):
        x = x + 1
        x = x - 1
    return x


def lists(x, n: int):
    parts = [n]
    while len(parts) > 0:
        parts.append(len(parts))
        parts.pop()
    return x


def calls(x, n: int):
    for i in range(9223372036854775807):
        n = step(n)
    return x


def step(n: int) -> int:
    return n - 1 if n > 0 else 5


def futures(x, n: int):
    return jit.wait(jit.fork(numbers, x, n))


class Net(lamella.nn.Module):
    def forward(self, x, n: int):
        return tensors(x, n)


def run(name):
    program = jit.script(Net()) if name == "Net" else jit.script(globals()[name])
    print("begins", flush=True)
    try:
        program(lamella.ones(2), 1)
    except KeyboardInterrupt:
        print("stopped", jit.script(step)(3), flush=True)
"""


@pytest.mark.parametrize("name", ["numbers", "tensors", "lists", "calls", "futures", "Net"])
def test_ctrl_c_stops_an_endless_script(name, tmp_path):
    """The program goes on behind the error, and its next script runs."""
    (tmp_path / "endless.py").write_text(ENDLESS)
    command = [sys.executable, "-c", f"import endless; endless.run({name!r})"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    try:
        assert child.stdout.readline() == "begins\n", child.stderr.read()
        time.sleep(0.2)
        child.send_signal(signal.SIGINT)
        output, errors = child.communicate(timeout=30)
    finally:
        child.kill()
        child.wait()
    assert (output, child.returncode) == ("stopped 2\n", 0), errors


def down(n: int) -> int:
    if n > 0:
        return down(n - 1) + 1
    return 0


def even(n: int) -> bool:
    return True if n == 0 else odd(n - 1)


def odd(n: int) -> bool:
    return False if n == 0 else even(n - 1)


class Again(lamella.nn.Module):
    def forward(self, n: int) -> int:
        if n > 0:
            return self.forward(n - 1) + 1
        return 0


@pytest.mark.parametrize("thing", [down, even, Again()], ids=["function", "two functions", "method"])
def test_recursion_has_a_bound(thing):
    """The bound is the default of CPython; the error is a RuntimeError, as RecursionError is one."""
    program = jit.script(thing)
    assert program(900) == (thing(100) + 800 if thing is not even else True)
    with pytest.raises(RuntimeError, match="the program calls itself more than 1000 times within each other") as error:
        program(10**9)
    assert len(str(error.value)) < 10000
    assert program(3) == thing(3)


def forever(n: int) -> int:
    return jit.wait(jit.fork(forever, n + 1))


def test_recursion_through_futures_has_a_bound():
    with pytest.raises(RuntimeError, match="calls itself more than 1000 times"):
        jit.script(forever)(0)
