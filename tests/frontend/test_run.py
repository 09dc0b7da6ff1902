"""`lamella run`: torch programs in child processes, and the report about a program before it runs."""

import os
import signal
import subprocess
import sys
import textwrap
import time
import zipfile

import pytest
from children import clean_environment

PYTHON = [sys.executable]
RUN = [sys.executable, "-m", "lamella", "run"]


@pytest.fixture
def program(tmp_path):
    """Writes a program's files into a folder, and runs it there."""

    class Bench:
        folder = tmp_path

        def write(self, **files):
            for name, text in files.items():
                path = tmp_path / (f"{name}.py")
                path.write_text(textwrap.dedent(text))

        def run(self, *words, command=RUN, cwd=None, **env):
            return subprocess.run(
                [*command, *words], cwd=cwd or tmp_path, env=clean_environment(**env), capture_output=True, text=True,
                timeout=100,
            )  # fmt: skip

        def output(self, text, *words):
            self.write(main=text)
            done = self.run("main.py", *words)
            assert done.returncode == 0, done.stdout + done.stderr
            return done.stdout

        def check(self, text, **others):
            self.write(main=text, **others)
            done = self.run("--check", "main.py")
            lines = done.stdout.splitlines()
            assert done.returncode == (1 if lines else 0) and not done.stderr, done.stdout + done.stderr
            return lines

    return Bench()


@pytest.mark.needs("autograd")
def test_a_program_for_torch(program):
    text = """
        import torch
        import torch.nn as nn
        import torch.nn.functional as F
        from torch import Tensor
        from torch.nn.utils import clip_grad_norm_

        class Net(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.fc = nn.Linear(4, 2)

            def forward(self, x: Tensor) -> Tensor:
                return F.relu(self.fc(x))

        torch.manual_seed(0)
        torch.backends.cudnn.benchmark = True
        torch.backends.cudnn.deterministic = True
        torch.backends.cuda.matmul.allow_tf32 = True
        torch.set_float32_matmul_precision("high")
        torch.cuda.manual_seed_all(0)
        there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
        device = torch.device(next(name for name in there if there[name]))
        net = Net().to(device)
        loss = net(torch.ones(3, 4, device=device)).sum() + (net.fc.weight ** 2).sum()
        loss.backward()
        clip_grad_norm_(net.parameters(), 1.0)
        torch.cuda.empty_cache()
        assert isinstance(loss, torch.Tensor) and isinstance(net.fc, nn.Linear) and not loss.is_cuda
        norm = sum(float((p.grad ** 2).sum()) for p in net.parameters()) ** 0.5
        print(device, round(norm, 3))
    """
    assert program.output(text) == "cpu 1.0\n" and program.check(text) == []


def test_torch_is_lamella(program):
    text = """
        import sys, lamella, torch
        import torch.nn.functional
        import torch.nn.modules.linear as linear
        from torch.nn.modules.linear import Linear
        from torch import nn
        assert torch is lamella and torch.nn is lamella.nn is nn and torch.nn.functional is lamella.nn.functional
        assert Linear is lamella.nn.Linear is linear.Linear and sys.modules["torch.nn"] is lamella.nn
        assert sys.modules["torch.nn.functional"].__spec__.name == "lamella.nn.functional"
        import lamella.nn.functional
        import pickle, importlib
        assert type(pickle.loads(pickle.dumps(nn.Linear(1, 1)))) is Linear
        assert importlib.import_module("torch.nn.init") is lamella.nn.init
        assert "torch.backends.cudnn" not in sys.modules
        from torch.backends import cudnn
        import torch.backends.cudnn as again
        assert cudnn is again is lamella.backends.cudnn and not cudnn.is_available()
    """
    assert program.output(text) == ""


def test_the_version(program):
    text = """
        import torch
        v = torch.__version__
        print(v, torch.version.__version__, torch.version.cuda, isinstance(v, str), v.split("+"))
        print(v >= "2.0", v >= (2, 13), v < "10.0", v > "2.13.0", v == "2.13.0+lamella", v != "2.13", v <= (2, 12, 9))
        print(tuple(int(n) for n in v.split("+")[0].split(".")[:2]) >= (2, 1), len({v, "2.13.0+lamella"}))
    """
    first, second, third = program.output(text).splitlines()
    assert first == "2.13.0+lamella 2.13.0+lamella None True ['2.13.0', 'lamella']"
    assert second == "True True True True True True False" and third == "True 1"


SELF = """
    import os, sys
    import helper
    print(sys.argv, __name__, __file__, __package__, __spec__ is None)
    assert os.path.realpath(sys.path[0]) == os.path.realpath(HERE)
    import __main__
    assert __main__.__dict__ is globals() and __builtins__ is not None and sys.modules["__main__"] is __main__
    print(sorted(n for n in globals() if n.startswith("__")))
"""


@pytest.mark.parametrize("where", ["main.py", "sub/main.py"])
def test_a_script_sees_what_python_gives_it(program, where):
    folder = os.path.dirname(program.folder / where)
    os.makedirs(folder, exist_ok=True)
    (program.folder / where).write_text(textwrap.dedent(SELF).replace("HERE", repr(str(folder))))
    open(os.path.join(folder, "helper.py"), "w").close()
    ours, pythons = (program.run(where, "-x", "--check", "y z", command=c) for c in (RUN, PYTHON))
    assert ours.returncode == 0, ours.stderr
    assert ours.stdout == pythons.stdout


def test_a_module_sees_what_python_gives_it(program):
    package = program.folder / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text(
        "import sys\nprint(sys.argv, __name__, __package__, __spec__.name, sys.path[0])\nfrom . import other\n"
    )
    (package / "other.py").write_text("print(__name__)\n")
    program.write(alone="import sys; print(sys.argv, __name__, __spec__.name, sys.argv[0] == __file__)")
    for words in (("-m", "pkg", "a"), ("-m", "alone", "-m", "b"), ("-malone", "c"), ("-m", "pkg.other"), ("pkg", "d")):
        ours, pythons = program.run(*words), program.run(*words, command=PYTHON)
        if words[0] == "pkg":  # a folder's __main__.py belongs to no package
            assert ours.returncode == pythons.returncode == 1
            assert ours.stdout == pythons.stdout and "attempted relative import" in ours.stderr
        else:
            assert ours.returncode == 0 and ours.stdout == pythons.stdout, ours.stderr
    with zipfile.ZipFile(program.folder / "app.zip", "w") as made:
        made.writestr("__main__.py", "import torch, inner; print(torch.ones(1))")
        made.writestr("inner.py", "")
    assert program.run("app.zip").stdout == "tensor([1.])\n"


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    raise ValueError('no')\n\nf()\n",
        "import json\njson.loads('{')\n",
        "try:\n    1 / 0\nexcept ZeroDivisionError:\n    raise KeyError(1)\n",
        "x = (\n",
        "import helper\n",
        "import sys\nsys.exit(3)\n",
        "import sys\nsys.exit('words')\n",
        "raise SystemExit\n",
        "import atexit\natexit.register(print, 'end')\nprint('begin')\n",
        "import no_such_module\n",
    ],
)
def test_errors_and_endings_are_pythons(program, text):
    program.write(main=text, helper="def g():\n    assert False, 'in helper'\n\ng()\n")
    ours, pythons = program.run("main.py"), program.run("main.py", command=PYTHON)
    assert (ours.returncode, ours.stdout, ours.stderr) == (pythons.returncode, pythons.stdout, pythons.stderr)


def test_an_interrupted_program_ends_as_of_python(program):
    program.write(main="import time\nprint('ready', flush=True)\ntime.sleep(60)\n")
    child = subprocess.Popen(
        [*RUN, "main.py"], cwd=program.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.1)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=50)
    assert child.returncode == -signal.SIGINT and err.rstrip().endswith("KeyboardInterrupt") and "program.py" not in err


def test_programs_that_are_not_there(program):
    done = program.run("nothing.py")
    assert done.returncode == 2 and "can't open file" in done.stderr and "nothing.py" in done.stderr
    (program.folder / "empty").mkdir()
    assert "can't find '__main__' module in 'empty'" in program.run("empty").stderr
    done = program.run("-m", "nothing.at_all")
    assert done.returncode == 1 and "nothing" in done.stderr and done.stderr.count("\n") == 1
    for words in ((), ("--wrong", "x.py"), ("-m",)):
        done = program.run(*words)
        assert done.returncode == 2 and "usage: lamella run" in done.stderr
    assert "--check" in program.run("--help").stdout
    assert " run " in program.run("--help", command=[*PYTHON, "-m", "lamella"]).stdout


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_processes_of_a_program(program, method):
    text = """
        import multiprocessing, sys
        import torch
        from torch import nn

        def work(n):
            return float(torch.ones(n).sum()), nn.__name__, str(torch.__version__)

        if __name__ == "__main__":
            multiprocessing.set_start_method(sys.argv[1])
            with multiprocessing.Pool(2) as pool:
                print(pool.map(work, [2, 3]))
    """
    expected = "[(2.0, 'lamella.nn', '2.13.0+lamella'), (3.0, 'lamella.nn', '2.13.0+lamella')]\n"
    assert program.output(text, method) == expected


# ---- missing names ---------------------------------------------------------------------------------------------------


def test_what_is_missing_raises_where_it_is_used(program):
    text = """
        import torch
        import torch.fx as fx
        import torch.export
        from torch import export, utils
        import torch.distributed.fsdp
        for use in (lambda: torch.export.Dim, lambda: fx.Graph, lambda: torch.no_such_name, lambda: torch.nn.NoModule,
                    lambda: torch.distributed.fsdp.Wrap):
            try:
                use()
            except AttributeError as error:
                print(error)
        assert not hasattr(torch.export, "Dim") and not hasattr(torch, "nothing") and export is torch.export
        print(torch.export)
    """
    lines = program.output(text).splitlines()
    assert lines[0].startswith("torch.export.Dim: lamella.export.Dim is not here yet; it is planned with")
    assert lines[1].startswith("torch.fx.Graph: lamella.fx.Graph is not planned: it is torch's graph")
    assert lines[2].startswith("torch.no_such_name: lamella.no_such_name does not exist and is not planned")
    assert "lamella.nn.NoModule does not exist" in lines[3]
    assert "Lamella has no lamella.distributed.fsdp" in lines[4] and lines[5].startswith("<module 'torch.export'")


@pytest.mark.parametrize(
    "statement, words",
    [
        (
            "from torch.export import Dim",
            "torch.export.Dim: lamella.export.Dim is not here yet; it is planned",
        ),
        (
            "from torch import no_such_name",
            "torch.no_such_name: lamella.no_such_name does not exist and is not planned",
        ),
        ("from torch.nn import NoModule", "torch.nn.NoModule: lamella.nn.NoModule does not exist"),
        (
            "from torch.nn.functional import no_function",
            "torch.nn.functional.no_function: lamella.nn.functional.no_function",
        ),
        (
            "from torch.fx import Graph, Node",
            "torch.fx.Graph: lamella.fx.Graph is not planned: it is torch's graph",
        ),
        (
            "from torch.fx.graph import Graph",
            "torch.fx.graph.Graph: lamella.fx.graph.Graph is not planned: it is torch's graph",
        ),
        (
            "from torch import chalf",
            "torch.chalf: lamella.chalf is not here yet",
        ),
        ("from torch.cuda import nothing", "torch.cuda.nothing: lamella.cuda.nothing is not here"),
        ("import torch.no_such_module", "torch.no_such_module: lamella.no_such_module does not exist"),
        ("import torch._six", "torch._six"),
        ("import torch.nn.nothing.at_all", "torch.nn.nothing"),
    ],
)
def test_imports_of_what_is_missing(program, statement, words):
    program.write(main=f"import torch\n{statement}\n")
    done = program.run("main.py")
    assert done.returncode == 1
    *_, place, source, message = done.stderr.splitlines()
    assert place == f'  File "{program.folder}/main.py", line 2, in <module>' and source.strip() == statement
    assert message.startswith("ModuleNotFoundError: ") and words in message
    program.write(main=f"try:\n    {statement}\nexcept ImportError:\n    print('without')\n")
    assert program.run("main.py").stdout == "without\n"


@pytest.mark.parametrize(
    "call, words",
    [
        ("torch.compile(len)", "NotImplementedError: lamella.compile: Lamella has no compiler; call the function"),
        ("torch.compiler.compile(len)", "NotImplementedError: lamella.compiler.compile"),
        ("torch.hub.load('a/b', 'c')", "NotImplementedError: lamella.hub.load: Lamella downloads neither"),
        ("torch.distributed.get_rank()", "ValueError: Default process group has not been initialized"),
        (
            "torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1), device_ids=None)",
            "ValueError: Default process group has not been initialized",
        ),
        ("torch.cuda.get_device_name(0)", "RuntimeError: there is no NVIDIA driver"),
        ("torch.ones(1).cuda()", "RuntimeError: there is no NVIDIA driver"),
        ("torch.backends.cuda.enable_math_sdp(False)", "NotImplementedError: lamella.backends.cuda.enable_math_sdp"),
    ],
)
def test_what_is_refused(program, call, words):
    program.write(main=f"import torch\nimport torch.distributed\n{call}\n")
    done = program.run("main.py")
    assert done.returncode == 1 and any(words in line for line in done.stderr.splitlines()[-6:])


def test_a_program_for_one_process_or_several(program):
    text = """
        import torch
        import torch.distributed as dist
        from torch import nn
        from torch.nn.parallel import DistributedDataParallel as DDP, DataParallel
        from torch.nn.parallel.distributed import DistributedDataParallel

        assert DDP is DistributedDataParallel is nn.parallel.DistributedDataParallel

        def rank():
            try:
                return dist.get_rank()
            except ValueError:  # as torch 2.13 raises where no group was made
                return 0

        model = nn.Linear(1, 1)
        if dist.is_available() and dist.is_initialized():
            model = DDP(model)
        print(rank(), isinstance(model, (DDP, DataParallel)), dist.is_available(), dist.is_initialized())
    """
    assert program.output(text) == "0 False True False\n"


@pytest.mark.needs("autograd")
def test_torch_save_writes_files_for_torch(program):
    text = """
        import collections, zipfile
        from argparse import Namespace
        import numpy as np
        import torch
        import torch.multiprocessing as mp

        def saved(path):
            torch.save(torch.ones(2), path)

        if __name__ == "__main__":
            model = torch.nn.Linear(2, 2)
            optimizer = torch.optim.Adam(model.parameters())
            lists = collections.defaultdict(list, a=[1])
            args = Namespace(lr=0.1, sizes=collections.deque([1, 2], 3), kinds=frozenset("a"), array=np.eye(2))
            torch.save({"model": model.state_dict(), "opt": optimizer.state_dict(), "args": args, "n": lists}, "a.pt")
            torch.save(model, "model.pt")
            got, net = torch.load("a.pt"), torch.load("model.pt", weights_only=False)
            assert torch.equal(got["model"]["weight"], model.weight) and torch.equal(net.bias, model.bias)
            assert repr(got["args"]) == repr(args) and got["n"] == lists and got["n"].default_factory is list
            mp.get_context("spawn").Process(target=saved, args=("child.pt",)).run()
            child = mp.get_context("spawn").Process(target=saved, args=("child.pt",))
            child.start(), child.join()
            torch.save([1], "own", format="lamella")
            for name in ("a.pt", "model.pt", "child.pt"):
                assert any(n.endswith("/data.pkl") for n in zipfile.ZipFile(name).namelist()), name
            assert "index.json" in zipfile.ZipFile("own").namelist()
    """
    assert program.output(text) == ""
    import lamella
    import lamella.serialization

    assert lamella.load(program.folder / "child.pt").tolist() == [1, 1]
    with lamella.serialization.safe_globals([lamella.nn.Linear]):
        assert lamella.load(program.folder / "model.pt").in_features == 2


# ---- reports before a run --------------------------------------------------------------------------------------------


def test_a_list_of_what_is_missing(program):
    lines = program.check("""
        import torch as T
        import torch.nn.functional as F
        import torch.export as export
        from torch import nn
        from torch.fx import Graph, Tracer as Tr
        import torch._six

        layers = nn
        a, b = nn, T.nn.functional

        class Net(layers.Modul):
            def forward(self, x: T.FloatTensorr, opt=export.Dim):
                y = F.relu(x) + b.no_function(x)
                return T.quux1(y, dtype=T.float31)

        for nn2 in (nn, T):
            nn2.nothing
        T.backends.cudnn.benchmark = True
        T.no_part.benchmark = True
        print(T.Tensor.no_method, T.nn.Linear.forward, a.NoLayer, T.nn.Linear(1, 1).nothing, T.ops.mine.op, Graph())

        @T.compile
        def f(x):
            T = x
            return T.nothing, [nn.nothing2 for nn in x], (lambda F: F.nothing3)(x)
    """)
    found = [(int(line.split(":")[1]), line.split(": ")[1]) for line in lines]
    assert all(line.startswith("main.py:") for line in lines)
    assert found == [
        (6, "torch.fx.Graph"),
        (6, "torch.fx.Tracer"),
        (7, "torch._six"),
        (12, "torch.nn.Modul"),
        (13, "torch.FloatTensorr"),
        (13, "torch.export.Dim"),
        (14, "torch.nn.functional.no_function"),
        (15, "torch.float31"),
        (15, "torch.quux1"),
        (20, "torch.no_part"),
        (21, "torch.Tensor.no_method"),
        (21, "torch.nn.NoLayer"),
        (23, "torch.compile"),
    ]
    assert "lamella.fx.Graph is not planned: it is torch's graph" in lines[0]


def test_what_is_asked_for_is_not_missing(program):
    assert (
        program.check("""
        from __future__ import annotations
        import torch
        from typing import TYPE_CHECKING

        try:
            from torch.linalg import det
        except ImportError:
            det = None
        try:
            x = torch.no_such_thing
        except AttributeError:
            x = 1
        if hasattr(torch, "quux1"):
            torch.quux1(1)
        y = torch.quux2(1) if hasattr(torch, "quux2") else 2
        z = hasattr(torch, "quux3") and torch.quux3.deep(1)
        if TYPE_CHECKING:
            from torch.fx import Graph

        def f(a: torch.NoType, b: Graph) -> torch.NoType2:
            c: torch.NoType3 = a
            return det(c) if det else c
    """)
        == []
    )
    assert program.check("""
        import torch
        try:
            torch.quux1()
        except ValueError:
            torch.quux2()
        if hasattr(torch, "a"):
            pass
        else:
            torch.quux3()
    """) == [
        f"main.py:{line}: torch.{name}: lamella.{name} does not exist and is not planned"
        for line, name in ((4, "quux1"), (6, "quux2"), (10, "quux3"))
    ]


def test_names_stand_for_what_their_scope_binds(program):
    lines = program.check("""
        import torch

        def outer():
            def inner():
                global found, torch2
                import torch as found
                torch2 = torch.nn
            def other():
                nonlocal_ = torch
                def third():
                    nonlocal nonlocal_
                    nonlocal_ = 1
                return nonlocal_.not_reported
            return inner

        def shadowed(x):
            match x:
                case {"a": torch, **found}:
                    return torch.not_reported
                case [*torch]:
                    return 1
            [torch.not_reported for torch in x]

        class Holder:
            torch2 = 1
            def method(self):
                return torch2.reported_a
        found.reported_b
        (nn := torch.nn).reported_c
        nn.reported_d
        try:
            pass
        except Exception as torch2b:
            torch2b.not_reported
        lambda *, torch: torch.not_reported
    """)
    assert [line.split(": ")[1] for line in lines] == [
        "torch.nn.reported_a", "torch.reported_b", "torch.nn.reported_c", "torch.nn.reported_d"]  # fmt: skip


def test_what_is_for_other_machines_is_not_missing(program):
    assert (
        program.check("""
        import torch
        import torch.distributed as dist

        def mean(x):
            if dist.is_available() and dist.is_initialized():
                dist.all_reduce(x)
            y = torch.jit.quux1(x) if torch.jit.is_scripting() else x
            return dist.is_initialized() and dist.get_rank() or y

        if not torch.jit.is_tracing():
            dist.get_world_size()
    """)
        == []
    )


def test_modules_of_its_own_folder_are_looked_at(program):
    (program.folder / "pkg" / "deep").mkdir(parents=True)
    for name, text in {
        "pkg/__init__.py": "from .first import *\nfrom . import second\n",
        "pkg/first.py": "import torch\nfrom torch import nn as layers\ntorch.missing_a\n",
        "pkg/second.py": "from .deep.third import T\nT.missing_b\n",
        "pkg/deep/__init__.py": "",
        "pkg/deep/third.py": "from ..first import torch as T\nimport json.tool, torch_helper\n",
        "pkg/unused.py": "import torch\ntorch.missing_c\n",
        "torch_helper.py": "import torch\n\ndef f():\n    return torch.missing_d\n",
        "broken.py": "def f(:\n",
    }.items():
        (program.folder / name).write_text(text)
    lines = program.check(
        "import pkg\nimport broken\nfrom pkg import layers\nlayers.missing_e\npkg.second.T.missing_f\n"
    )
    assert [line.split(": ")[0] + " " + line.split(": ")[1].rpartition(".")[2] for line in lines] == [
        "broken.py:1 cannot be read",
        "main.py:4 missing_e",
        "main.py:5 missing_f",
        "pkg/first.py:3 missing_a",
        "pkg/second.py:2 missing_b",
        "torch_helper.py:4 missing_d",
    ]
    done = program.run("--check", "-m", "pkg.second")
    assert done.returncode == 1 and "pkg/first.py:3: torch.missing_a" in done.stdout and "unused" not in done.stdout
    elsewhere = program.run("--check", str(program.folder / "main.py"), cwd="/")
    assert len(elsewhere.stdout.splitlines()) == len(lines)


def test_methods_of_tensors_are_perhaps_missing(program):
    text = """
        import numpy as np
        import torch

        def f(x, images, names):
            x.{name}(1)
            np.linalg.{name}(x)
            images.resize(3), names.index(1), x.name, x.add(1)

        class Own:
            def made_here(self):
                self.{name}()
    """
    import lamella
    from lamella._torch.run.check import perhaps

    assert perhaps() and not any(hasattr(lamella.ones(1), name) for name in perhaps())
    name = sorted(perhaps())[0]
    lines = program.check(text.replace("{name}", name))
    assert len(lines) == 1 and lines[0].startswith(f"main.py:6: perhaps Tensor.{name}: ")
    assert program.check(text.replace("{name}", name).replace("made_here", name)) == []


def test_nothing_is_run_by_a_check(program):
    (program.folder / "pkg").mkdir()
    (program.folder / "pkg" / "__init__.py").write_text("raise SystemExit('ran')\n")
    (program.folder / "pkg" / "__main__.py").write_text("raise SystemExit('ran')\n")
    for words in (("-m", "pkg"), ("pkg",), ("-m", "pkg.__main__")):
        done = program.run("--check", *words)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_an_import_of_lamella_has_nothing_of_it():
    code = "import lamella, sys; assert 'torch' not in sys.modules and 'lamella._torch.run' not in sys.modules"
    subprocess.run([sys.executable, "-c", code + "; assert lamella.__version__ == lamella._C.__version__"], check=True)


# ---- names that every program has ------------------------------------------------------------------------------------


def test_switches():
    import lamella

    cudnn = lamella.backends.cudnn
    before = cudnn.benchmark
    with cudnn.flags(enabled=False, benchmark=not before):
        assert not cudnn.enabled and cudnn.benchmark is not before
    assert cudnn.enabled and cudnn.benchmark is before
    with pytest.raises(TypeError, match="has no argument 'fast'"), cudnn.flags(fast=True):
        pass
    assert cudnn.version() is None and not lamella.backends.cuda.is_built() and not lamella.backends.mps.is_built()
    lamella.backends.cuda.enable_flash_sdp(False)
    assert not lamella.backends.cuda.flash_sdp_enabled() and lamella.backends.cuda.math_sdp_enabled()
    lamella.backends.cuda.enable_flash_sdp(True)
    with pytest.raises(RuntimeError, match="debug_mode"):
        lamella.set_deterministic_debug_mode("never")
    with pytest.warns(UserWarning, match="'lowest'"):
        lamella.set_float32_matmul_precision("lowest")
    with pytest.raises(RuntimeError, match="positive"):
        lamella.set_num_interop_threads(0)


def test_devices_that_there_are_none_of():
    import lamella

    for module in (lamella.cuda, lamella.mps, lamella.xpu):
        if module.is_available():
            continue
        assert module.device_count() == 0 and module.memory_allocated() == module.max_memory_reserved() == 0
        assert module.get_rng_state_all() == [] and not module.is_initialized() and not module.is_bf16_supported()
        for quiet in (module.empty_cache, module.seed, module.seed_all, lambda m=module: m.manual_seed(1)):
            assert quiet() is None
        for loud in (module.init, module.synchronize, module.current_device, module.get_device_name, module.Stream):
            with pytest.raises(RuntimeError, match="there is no (backend|NVIDIA driver)"):
                loud()
        assert "manual_seed" in dir(module) and "is_initialized" in dir(module)


def test_versions_compare():
    from lamella.torch_version import TorchVersion as V

    assert V("1.10.0") > "1.9.1" and V("2.0") == "2.0.0" and V("2.1.0a0") < "2.1" and V("2.1.0.dev1") < "2.1.0a0"
    assert V("2.1.post1") > (2, 1) and V("2.1") != "2.1+x" and V("2.1+x.2") < "2.1+x.10" and V("2") <= (2,) <= V("2.0")
    assert (V("2.1") == "parrot") is False and V("2.1") < "parrot" and (V("2.1") == 5) is False
    with pytest.raises(TypeError):
        V("2.1") < object()  # noqa: B015
