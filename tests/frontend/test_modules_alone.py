"""Each module of the package can be the first that a program imports."""

import json
import sys

from children import run

# An import of any module of the package runs the file of `lamella` first. So one process imports that, and of its
# children each imports one module that is not imported yet. A first child imports all of them, and names the modules of
# other packages; the process imports these, which saves most of the time. Reading a name that no module has runs the
# file of a lazy module.
ALONE = """
import gc, importlib, json, os, pkgutil, sys

import lamella

def modules(package, folders):
    for module in pkgutil.iter_modules(folders, package + "."):
        if module.ispkg:
            yield from modules(module.name, [os.path.join(f, module.name.rpartition(".")[2]) for f in folders])
        if module.module_finder.find_spec(module.name).origin.endswith(".py") and not module.name.endswith("__main__"):
            yield module.name

def in_child(function):
    here, there = os.pipe()
    child = os.fork()
    if not child:
        with open(there, "w") as pipe:
            json.dump(function(), pipe)
        os._exit(0)
    os.close(there)
    with open(here) as pipe:
        said = pipe.read()
    status = os.waitpid(child, 0)[1]
    return json.loads(said) if not status else f"status {status}"

def fault(name):
    try:
        hasattr(importlib.import_module(name), "no such name")
    except BaseException as error:
        return f"{type(error).__name__}: {error}"

def others():
    for name in names:
        fault(name)
    return [name for name in sys.modules if name.partition(".")[0] != "lamella"]

names = sorted(modules("lamella", lamella.__path__))
for name in in_child(others):
    if name not in sys.modules:
        fault(name)
gc.disable()
imported = {name for name, module in sys.modules.items() if type(module).__name__ != "LazyModule"}
faults = {name: in_child(lambda: fault(name)) for name in names if name not in imported}
print(json.dumps([names, {name: text for name, text in faults.items() if text}, len(faults)]))
"""


def test_every_module_can_be_imported_first(tmp_path):
    names, faults, tried = json.loads(run(sys.executable, "-c", ALONE, cwd=tmp_path).splitlines()[-1])
    assert len(names) > 300 and "lamella.multiprocessing.queues" in names and "lamella.plugins.profiler.files" in names
    assert faults == {} and tried > 150


def test_a_module_does_not_hide_the_function_of_its_name(tmp_path):
    code = "import lamella.multiprocessing.spawn; import lamella; print(lamella.multiprocessing.spawn(print, nprocs=0))"
    assert run(sys.executable, "-c", code, cwd=tmp_path) == "None\n"


QUEUE = """
import lamella.multiprocessing as mp

def child(inbox, outbox):
    t = inbox.get(timeout=60)
    t += 1
    outbox.put("done")

if __name__ == "__main__":
    import lamella

    for way in ("spawn", "forkserver"):
        context = mp.get_context(way)
        for kind in (context.Queue, context.JoinableQueue):
            inbox, outbox, t = kind(), kind(), lamella.zeros(3)
            inbox.put(t)
            process = context.Process(target=child, args=(inbox, outbox), daemon=True)
            process.start()
            print(way, outbox.get(timeout=60), t.tolist())
            process.join()
"""


def test_a_fresh_child_that_gets_a_queue_first(tmp_path):
    """The child unpickles the queue, and so imports its module, before it uses any other name of the package."""
    script = tmp_path / "queues.py"
    script.write_text(QUEUE)
    lines = run(sys.executable, script, cwd=tmp_path).splitlines()
    assert lines == [f"{way} done [1.0, 1.0, 1.0]" for way in ("spawn", "forkserver") for _ in range(2)]
