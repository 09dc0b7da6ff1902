"""Attributes, lists and dictionaries that several threads write at once, and threads that wait for each other."""

import signal
import subprocess
import sys
import threading
import time

import lamella
from lamella.graph import Program, parse
from threads import in_threads

STEPS = """
class Counter {
  n : int
  seen : Tensor[]
  names : Dict(str, Tensor)
}
with Counter.step = graph(%self : Counter, %x : Tensor, %trips : int) {
  %t : bool = prim::Constant[value=True]()
  %one : int = prim::Constant[value=1]()
  %zero : int = prim::Constant[value=0]()
  prim::Loop(%trips, %t)
    block0(%i : int) {
      %seen : Tensor[] = prim::GetAttr[name="seen"](%self)
      %more : Tensor[] = aten::append.t(%seen, %x)
      %all : Tensor = aten::cat(%seen, %zero)
      %names : Dict(str, Tensor) = prim::GetAttr[name="names"](%self)
      %name : str = aten::str(%i)
      aten::_set_item.Dict(%names, %name, %all)
      aten::clear.t(%seen)
      %rest : Tensor[] = aten::append.t(%seen, %x)
      -> (%t)
    }
  return ()
}
with Counter.count = graph(%self : Counter, %trips : int) {
  %t : bool = prim::Constant[value=True]()
  %one : int = prim::Constant[value=1]()
  prim::Loop(%trips, %t)
    block0(%i : int) {
      %n : int = prim::GetAttr[name="n"](%self)
      %m : int = aten::add.int(%n, %one)
      prim::SetAttr[name="n"](%self, %m)
      -> (%t)
    }
  return ()
}
with Counter.wait = graph(%self : Counter, %first : bool) {
  %one : int = prim::Constant[value=1]()
  prim::SetAttr[name="n"](%self, %one)
  prim::PythonCall[name="host"](%first)
  return ()
}
"""


def counter(p, *seen):
    return p.new_object("Counter", {"n": 0, "seen": list(seen), "names": {}})


def test_threads_that_write_one_instance():
    """Each thread clears the list that others read; no tensor of it may be freed under an operator."""
    p, x = Program(STEPS), lamella.ones(3)
    own = counter(p, x)

    def read():
        for _ in range(300):
            assert all(t.tolist() == [1.0, 1.0, 1.0] for t in own.seen)
            assert len(own.names) <= 200

    in_threads(*[lambda: p.run("Counter.step", (own, x, 200))] * 4, *[read] * 2)
    assert set(own.names) == {str(i) for i in range(200)}
    assert all(t.tolist() == [1.0] * t.numel() and t.numel() % 3 == 0 for t in own.names.values())


def test_no_step_of_another_thread_is_lost():
    """Between two operators, and for less than 1024 trips, a program that writes attributes runs alone."""
    p = Program(STEPS)
    own = counter(p)
    in_threads(*[lambda: [p.run("Counter.count", (own, 100)) for _ in range(50)]] * 4)
    assert own.n == 20000


def test_a_function_of_python_may_wait_for_another_run():
    ended = threading.Event()
    p = Program(STEPS, (), {"host": lambda first: ended.wait(60) if first else ended.set()})
    own = counter(p)
    in_threads(lambda: p.run("Counter.wait", (own, True)), lambda: p.run("Counter.wait", (own, False)))
    assert ended.is_set()


def test_futures_that_write_a_list_of_their_caller():
    g = parse(
        """
graph(%x : Tensor, %n : int) {
  %t : bool = prim::Constant[value=True]()
  %l : Tensor[] = prim::ListConstruct(%x)
  %k : int = prim::Loop(%n, %t, %n)
    block0(%i : int, %c : int) {
      %f : Future(int) = prim::fork[name="add"](%l, %x)
      %more : Tensor[] = aten::append.t(%l, %x)
      %y : Tensor = aten::cat(%l, 0)
      %a : int = aten::wait(%f)
      -> (%t, %a)
    }
  %r : int = aten::len.t(%l)
  return (%r)
}
with add = graph(%l : Tensor[], %x : Tensor) {
  %m : Tensor[] = aten::append.t(%l, %x)
  %y : Tensor = aten::cat(%l, 0)
  %n : int = aten::len.t(%l)
  return (%n)
}"""
    )
    assert in_threads(*[lambda: g(lamella.ones(1), 50)] * 3) == [101] * 3


def test_a_chain_of_futures_is_freed_without_recursion():
    """Each future has the one before it as an argument."""
    g = parse(
        """
graph(%n : int) {
  %t : bool = prim::Constant[value=True]()
  %f : Future(Any) = prim::fork[name="same"](%n)
  %last : Future(Any) = prim::Loop(%n, %t, %f)
    block0(%i : int, %before : Future(Any)) {
      %next : Future(Any) = prim::fork[name="same"](%before)
      -> (%t, %next)
    }
  %r : Any = aten::wait(%last)
  return ()
}
with same = graph(%x : Any) { return (%x) }"""
    )
    assert g(100000) is None


def test_the_child_of_a_fork_runs_programs_that_write():
    """A thread is within such a program when the process forks; the child gets a lock of its own."""
    code = f"""
import os, threading
from lamella.graph import Program
p = Program({STEPS!r})
own = p.new_object("Counter", {{"n": 0, "seen": [], "names": {{}}}})
stop = False
def count():
    while not stop:
        p.run("Counter.count", (own, 2000))
thread = threading.Thread(target=count)
thread.start()
codes = []
for _ in range(20):
    pid = os.fork()
    if not pid:
        before = own.n
        p.run("Counter.count", (own, 10))
        os._exit(own.n - before)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
stop = True
thread.join()
print(codes)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.strip() == str([10] * 20), done.stderr


def test_a_wait_is_interrupted():
    code = """
import os
from lamella.graph import parse
g = parse('''
graph(%n : int) {
  %f : Future(int) = prim::fork[name="long"](%n)
  %g : Future(int) = prim::fork[name="long"](%n)
  %a : int = aten::wait(%f)
  %b : int = aten::wait(%g)
  return (%a)
}
with long = graph(%n : int) {
  %t : bool = prim::Constant[value=True]()
  %r : int = prim::Loop(%n, %t, %n) block0(%i : int, %x : int) { -> (%t, %i) }
  return (%r)
}''')
print("runs", flush=True)
try:
    g(1 << 40)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    os._exit(0)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "runs\n"
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        try:
            out, _ = child.communicate(timeout=60)
        finally:
            child.kill()
    assert out == "interrupted\n"


READER = """
class Net {
  w : Tensor
  l : Tensor[]
}
with Net.read = graph(%self : Net, %n : int) {
  %t : bool = prim::Constant[value=True]()
  %zero : int = prim::Constant[value=0]()
  prim::Loop(%n, %t)
    block0(%i : int) {
      %w : Tensor = prim::GetAttr[name="w"](%self)
      %v : Tensor = aten::neg(%w)
      -> (%t)
    }
  return ()
}
with Net.join = graph(%self : Net, %n : int) {
  %t : bool = prim::Constant[value=True]()
  %zero : int = prim::Constant[value=0]()
  prim::Loop(%n, %t)
    block0(%i : int) {
      %l : Tensor[] = prim::GetAttr[name="l"](%self)
      %v : Tensor = aten::cat(%l, %zero)
      -> (%t)
    }
  return ()
}
"""
WRITER = """
class Net {
  w : Tensor
  l : Tensor[]
}
with Net.write = graph(%self : Net, %x : Tensor, %n : int) {
  %t : bool = prim::Constant[value=True]()
  prim::Loop(%n, %t)
    block0(%i : int) {
      %l : Tensor[] = prim::GetAttr[name="l"](%self)
      %y : Tensor = aten::neg(%x)
      aten::clear.t(%l)
      %m : Tensor[] = aten::append.t(%l, %y)
      -> (%t)
    }
  return ()
}
"""


def test_a_program_that_only_reads_beside_those_who_write():
    """Tensors that a reader gets stay alive while Python, or another program, puts others in their place."""
    reader, writer = Program(READER), Program(WRITER)
    own = reader.new_object("Net", {"w": lamella.ones(3), "l": [lamella.ones(3)]})
    ended = threading.Event()

    def write():
        while not ended.is_set():
            own.w = lamella.ones(3)
            writer.run("Net.write", (own, lamella.ones(3), 20))

    def read():
        for _ in range(400):
            reader.run("Net.read", (own, 50))
            reader.run("Net.join", (own, 50))

    def readers():
        in_threads(read, read)
        ended.set()

    in_threads(write, readers)
    assert own.w.tolist() == [1.0] * 3 and [t.tolist() for t in own.l] == [[-1.0] * 3]


def test_waits_within_waits_are_bounded():
    """Each future waits for the one before; the last waiter would run all of them on its stack."""
    g = parse(
        """
graph(%n : int) {
  %t : bool = prim::Constant[value=True]()
  %s : int = prim::Constant[value=3000000]()
  %f : Future(int) = prim::fork[name="slow"](%s)
  %last : Future(int) = prim::Loop(%n, %t, %f)
    block0(%i : int, %before : Future(int)) {
      %next : Future(int) = prim::fork[name="after"](%before)
      -> (%t, %next)
    }
  %r : int = aten::wait(%last)
  return (%r)
}
with slow = graph(%n : int) {
  %t : bool = prim::Constant[value=True]()
  %r : int = prim::Loop(%n, %t, %n) block0(%i : int, %x : int) { -> (%t, %i) }
  return (%r)
}
with after = graph(%f : Future(int)) { %r : int = aten::wait(%f) return (%r) }"""
    )
    try:
        assert g(100000) == 2999999
    except RuntimeError as error:
        assert "calls itself more than 1000 times within each other" in str(error)


LOOP = """graph(%n : int) {
  %t : bool = prim::Constant[value=True]()
  prim::Loop(%n, %t) block0(%i : int) { -> (%t) }
  return ()
}"""


def test_threads_that_run_programs_while_python_ends():
    code = f"""
import threading, time
from lamella.graph import Program, parse
p = Program({STEPS!r})
own = p.new_object("Counter", {{"n": 0, "seen": [], "names": {{}}}})
g = parse({LOOP!r})
def work(run):
    while True:
        run()
for _ in range(3):
    threading.Thread(target=work, args=(lambda: p.run("Counter.count", (own, 50)),), daemon=True).start()
    threading.Thread(target=work, args=(lambda: g(100),), daemon=True).start()
time.sleep(0.2)
"""
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stderr) == (0, "")
