"""A child that is forked while another thread holds a lock finds it free; a subinterpreter is refused at once."""

import sys

from children import run

# A thread of the parent does one thing, so that it has the lock at most of the forks; each child needs the same lock.
# The alarm kills a child that waits.
FORKS = """
import faulthandler, os, signal, sys, threading, time, warnings

import lamella

warnings.simplefilter("ignore", DeprecationWarning)
stop = threading.Event()

{program}

def repeat():
    while not stop.is_set():
        busy()

thread = threading.Thread(target=repeat)
thread.start()
time.sleep(0.2)
for _ in range(8):
    time.sleep(0.01)
    child = os.fork()
    if not child:
        signal.alarm(30)
        os._exit(0 if needed() else 3)
    status = os.waitpid(child, 0)[1]
    if status:
        stop.set()
        sys.exit(f"a child ended with status {{status}}")
stop.set()
thread.join()
print("done")
"""

COMPILING = """
busy = lamella.ops.autograd._broken_formulas

def needed():
    x = lamella.full((2,), 2.0, requires_grad=True)
    (x.square() - x.reciprocal()).sum().backward()
    return x.grad.tolist() == [4.25, 4.25]
"""
ADDING = """
big = [lamella.zeros(2_000_000, requires_grad=True) for _ in range(8)]
grad = lamella.ones(2_000_000)

def busy():
    for leaf in big:
        leaf.backward(grad)

def needed():
    leaves = [lamella.zeros(1, requires_grad=True) for _ in range(2000)]
    for leaf in leaves:
        (3 * leaf).sum().backward()
    return all(leaf.grad.item() == 3 for leaf in leaves)
"""
LAZY = """
import lamella._lazy as lazy

def busy():
    with lazy.LOCK, lamella.plugins.manager.manager.lock:
        time.sleep(0.005)

def needed():
    return lamella.nn.Linear(2, 3)(lamella.ones(1, 2)).shape == (1, 3) and bool(lamella.plugins.status())
"""


def forks(program, tmp_path):
    assert run(sys.executable, "-c", FORKS.format(program=program), cwd=tmp_path) == "done\n"


def test_a_thread_compiles_derivatives(tmp_path):
    forks(COMPILING, tmp_path)


def test_a_thread_adds_gradients(tmp_path):
    forks(ADDING, tmp_path)


def test_a_thread_imports(tmp_path):
    forks(LAZY, tmp_path)


SUBINTERPRETER = """
import importlib, sys

try:
    interpreters = importlib.import_module("_xxsubinterpreters" if sys.version_info < (3, 13) else "_interpreters")
except ImportError:
    sys.exit("none")
code = '''
try:
    import lamella
except ImportError as error:
    assert "subinterpreter" in str(error), error
else:
    raise AssertionError("no error")
'''
{first}
one = interpreters.create()
failed = interpreters.run_string(one, code)
assert failed is None, failed
import lamella
print(lamella.ones(2).sum().item())
"""


def test_a_subinterpreter_is_refused(tmp_path):
    for first in ("", "import lamella"):
        assert run(sys.executable, "-c", SUBINTERPRETER.format(first=first), cwd=tmp_path, timeout=60) == "2.0\n"
