"""Nothing is left when a parent is killed, a pickle fails, or Lamella is imported in another order."""

import contextlib
import gc
import os
import pathlib
import signal
import subprocess
import sys
import time

import lamella
import lamella.multiprocessing as mp
import pytest
from children import run
from lamella import _C
from lamella.multiprocessing import reductions

BOUND = 60
PARENT = """
import sys, threading, time
import lamella.multiprocessing as mp

def child(rank, folder):
    import os
    with open(f"{folder}/{rank}.part", "w") as file:
        file.write(str(os.getpid()))
    os.rename(f"{folder}/{rank}.part", f"{folder}/{rank}")
    time.sleep(200)

def start(folder, way):
    mp.start_processes(child, (folder,), nprocs=2, join=False, start_method=way).join()

if __name__ == "__main__":
    folder, way, where = sys.argv[1:]
    if where == "thread":
        thread = threading.Thread(target=start, args=(folder, way))
        thread.start()
        thread.join()
    elif where == "ended thread":
        kept = []
        thread = threading.Thread(
            target=lambda: kept.append(mp.start_processes(child, (folder,), 2, False, start_method=way)))
        thread.start()
        thread.join()
        time.sleep(200)
    else:
        start(folder, way)
"""


def runs(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def until(condition):
    end = time.monotonic() + BOUND
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


@pytest.mark.parametrize(
    "way, where", [("fork", "main"), ("spawn", "main"), ("forkserver", "main"), ("fork", "ended thread")]
)
def test_children_end_with_a_killed_parent(way, where, tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    parent = subprocess.Popen([sys.executable, script, tmp_path, way, where])
    pids = []
    try:
        assert until(lambda: all((tmp_path / str(rank)).exists() for rank in range(2)))
        pids = [int((tmp_path / str(rank)).read_text()) for rank in range(2)]
        assert all(map(runs, pids)) and parent.poll() is None
        parent.kill()
        parent.wait(BOUND)
        assert until(lambda: not any(map(runs, pids)))
    finally:
        parent.kill()
        parent.wait(BOUND)
        for pid in filter(runs, pids):
            os.kill(pid, signal.SIGKILL)


class Bad:
    def __reduce__(self):
        raise ValueError("it cannot be pickled")


def descriptors():
    """Returns the files that are open, by descriptor."""
    found = {}
    for fd in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):  # the descriptor that listed them
            found[int(fd)] = os.readlink(f"/proc/self/fd/{fd}")
    return found


def test_a_failed_pickle_keeps_nothing():
    here, there = mp.Pipe()
    here.send(lamella.ones(1))  # this starts the thread that answers other processes
    assert there.recv().item() == 1
    gc.collect()  # garbage of earlier tests may hold descriptors
    before = descriptors()
    for n in range(5):
        with pytest.raises(ValueError, match="cannot be pickled"):
            here.send([lamella.ones(100_000), lamella.ones(5), Bad()])
        if n == 2:
            here.send(lamella.full((100_000,), 3.0))
            assert there.recv()[5].item() == 3
    gc.collect()
    until(lambda: len(descriptors()) <= len(before))  # a thread closes the sent descriptors
    after = descriptors()
    assert len(after) <= len(before), {fd: name for fd, name in after.items() if before.get(fd) != name}
    assert not reductions.resource_sharer._resource_sharer._cache


ORDERS = {
    "lamella first": "import lamella; import multiprocessing",
    "multiprocessing first": "import multiprocessing; import lamella",
    "the pickler first": "import multiprocessing.reduction; import lamella; import multiprocessing",
    "lamella.multiprocessing beside it": "import lamella, lamella.multiprocessing; import multiprocessing",
    "nn": "import lamella; import multiprocessing.reduction; from lamella import nn; import multiprocessing",
}
SENDS = """
def child(queue, done):
    for t in queue.get(): t.data.add_(1)
    done.put("done")

context = multiprocessing.get_context("fork")
queue, done = context.SimpleQueue(), context.SimpleQueue()
process = context.Process(target=child, args=(queue, done)); process.start()
t, p = lamella.zeros(3), lamella.nn.Parameter(lamella.zeros(2))
queue.put([t, p]); done.get(); process.join()
from concurrent.futures import ProcessPoolExecutor
with ProcessPoolExecutor(1, mp_context=context) as pool: assert pool.submit(lamella.Tensor.is_shared, t).result()
import sys, inspect
from multiprocessing import reduction
from lamella._imports import WATCH
assert "multiprocessing.reduction" not in WATCH.waiting and sys.meta_path.count(WATCH) == 1
assert "ForkingPickler" in inspect.getsource(reduction)
import einops, matplotlib.cbook
assert WATCH not in sys.meta_path
print(t.tolist(), p.tolist())
"""


@pytest.mark.parametrize("order", ORDERS)
def test_the_standard_library_shares_in_every_order(order):
    code = ORDERS[order] + SENDS
    assert run(sys.executable, "-c", code, cwd=".") == "[1.0, 1.0, 1.0] [1.0, 1.0]\n"


def test_lamella_alone_brings_no_pickler_in():
    code = "import sys, lamella; print('multiprocessing' in sys.modules)"
    assert run(sys.executable, "-c", code, cwd=".") == "False\n"


def test_objects_that_the_collector_does_not_name():
    code = (
        "import gc, lamella; t = lamella.ones(3); v = t[1:]; gc.freeze()\n"
        "try: t.share_memory_()\nexcept RuntimeError as e: print('gc.freeze()' in str(e))\n"
        "gc.unfreeze(); print(t.share_memory_().is_shared(), v.is_shared())"
    )
    assert run(sys.executable, "-c", code, cwd=".") == "True\nTrue True\n"
    assert _C._shared_empty(3).is_shared()
