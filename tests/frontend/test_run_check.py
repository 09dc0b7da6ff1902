"""What `lamella run --check` says of calls: those that raise whatever the program's values are, and no others."""

import contextlib
import re
import textwrap

import lamella
import pytest
from lamella._torch.run import find_script
from lamella._torch.run.check import report


@pytest.fixture
def check(tmp_path, monkeypatch):
    """Returns the lines about a program, as (line, words); in this process, since nothing of the program is run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("lamella._torch.run.check.names.stand_in", lambda: None)

    def lines(text, **others):
        for name, content in {"main": text, **others}.items():
            (tmp_path / f"{name}.py").write_text(textwrap.dedent(content))
        found = [re.fullmatch(r"(\w+)\.py:(\d+): (.*)", line) for line in report(find_script("main.py"))]
        return [(match[1], int(match[2]), match[3]) for match in found]

    return lines


RAISING = """
    import contextlib
    import torch
    from torch import nn
    from torch.cuda.amp import autocast as cuda_autocast
    from torch.nn.parallel import DistributedDataParallel as DDP

    AMP = True
    alias = torch.compile

    @torch.compiler.compile
    def f(x):
        return x

    @torch.compile(mode="max-autotune")
    def g(x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            x = x + 1
        with torch.autocast(device_type="cpu", enabled=AMP), torch.amp.autocast("cpu", kind, speed=2):
            pass
        return x

    model = alias(torch.nn.Linear(1, 1))
    model = DDP(model, device_ids=[0])
    rank = torch.compile(len)
    lin = nn.Linear(1, 1, biass=False)
    conv = nn.Conv2d(1, 1, 1, 1, 0, 1, 1, True, "zeros", None, None, 7)
    torch.add(lin, lin, alpa=2)
    torch.optim.SGD([], learning_rate=1)
    torch.autocast("cpu", speed=2)
    args = {}
    nn.ReLU(fast=True, **args)
"""


def test_calls_that_raise_are_reported(check):
    found = check(RAISING)
    assert [(line, words.partition(":")[0]) for _, line, words in found] == [
        (11, "torch.compiler.compile"),
        (15, "torch.compile"),
        (19, "torch.amp.autocast"),
        (23, "torch.compile"),
        (25, "torch.compile"),
        (26, "torch.nn.Linear"),
        (27, "torch.nn.Conv2d"),
        (28, "torch.add"),
        (29, "torch.optim.SGD"),
        (30, "torch.autocast"),
        (32, "torch.nn.ReLU"),
    ]
    words = {line: words for _, line, words in found}
    assert "it has no argument 'speed'" in words[19]
    assert words[26] == "torch.nn.Linear: it has no argument 'biass'" and words[28].endswith("no argument 'alpa'")
    assert words[27] == "torch.nn.Conv2d: it takes 11 arguments by position, and 12 are given"


def test_what_is_reported_raises_when_it_is_run():
    """The calls of RAISING, made here, where the check does not make them."""
    nn, ones = lamella.nn, lamella.ones(1)
    for call, error in [
        (lambda: lamella.compiler.compile(len), NotImplementedError),
        (lambda: lamella.compile(mode="max-autotune"), NotImplementedError),
        (lambda: lamella.amp.autocast("cpu", lamella.bfloat16, speed=2), TypeError),
        (lambda: nn.Linear(1, 1, biass=False), TypeError),
        (lambda: nn.Conv2d(1, 1, 1, 1, 0, 1, 1, True, "zeros", None, None, 7), TypeError),
        (lambda: lamella.add(ones, ones, alpa=2), TypeError),
        (lambda: lamella.optim.SGD([ones], learning_rate=1), TypeError),
        (lambda: lamella.autocast("cpu", speed=2), TypeError),
        (lambda: nn.ReLU(fast=True), TypeError),
    ]:
        with pytest.raises(error):
            call()


QUIET = [
    """
    import torch, contextlib
    from torch.nn import functional as F
    enabled, settings = bool(torch.rand(1) > 2), {"enabled": False}
    with torch.autocast("cpu", enabled=False), torch.autocast("cpu", enabled=enabled):
        torch.autocast("cpu", **settings)
    device = "cpu" if enabled else "cuda"
    with torch.autocast(device), torch.autocast(device_type=torch.device("cpu").type), torch.cuda.amp.autocast():
        pass  # without such a device it warns
    torch.nn.Linear(*[1, 1]), torch.sum(torch.ones(1), axis=0, keepdims=True), torch.zeros(2, requires_grad=True)
    torch.add(input=torch.ones(1), other=1, out=torch.ones(1)), F.softmax(torch.ones(1), dim=0, dtype=torch.float64)
    torch.optim.Adam([torch.ones(1)], lr=0.1, **settings), torch.tensor([1], names=None)
    torch.utils.data.DataLoader([1], 1, num_workers=0), torch.nn.Parameter(data=torch.ones(1), requires_grad=False)
    """,
    """
    import contextlib, pytest
    import torch
    try:
        model = torch.compile(len)
    except Exception:
        model = len
    try:
        rank = torch.distributed.get_rank()
    except (RuntimeError, ValueError):
        rank = 0
    try:
        torch.compiler.compile(len)
    except RuntimeError:
        pass
    with contextlib.suppress(NotImplementedError):
        torch.compiler.compile(len)
    with pytest.raises(TypeError):
        torch.nn.Linear(1, 1, biass=True)
    compiler = torch.compile if model is len else None
    print(torch.compiler.compile, torch.nn.parallel.DistributedDataParallel)
    print(isinstance(1, torch.nn.parallel.DataParallel))
    """,
    """
    import torch
    import torch.distributed as dist

    def ready():
        '''Of many programs.'''
        if not dist.is_available():
            return False
        if not dist.is_initialized():
            return False
        return True

    def get_rank():
        if not ready():
            return 0
        return dist.get_rank()

    def reduce(x):
        world = 1 if not ready() else dist.get_world_size()
        if world == 1:
            return x
        dist_on = dist.is_available() and dist.is_initialized()
        if dist_on:
            dist.all_reduce(x)
        for _ in range(3):
            if not dist_on:
                continue
            dist.barrier()
        if not torch.jit.is_scripting():
            return x
        else:
            torch.compiler.compile(x)
        return (not ready()) or dist.get_rank() == 0

    def main():
        if torch.cuda.is_available():
            torch.compile(len)
        elif not dist.is_initialized():
            print("one")
        else:
            dist.barrier()
        while False:
            pass
    """,
    """
    import torch
    from torch import nn
    nn.ReLU = lambda fast: fast
    torch.compile = lambda f: f
    nn.ReLU(fast=True), torch.compile(len)
    """,
    """
    from helper import ready, nn, Linear
    import torch.distributed as dist
    if ready():
        dist.barrier()
    nn.Linear(1, 1, biass=1), Linear(biass=1)
    """,
]


@pytest.mark.parametrize("text", QUIET)
def test_calls_that_may_succeed_are_not(check, text):
    helper = """
        import torch.distributed as dist
        def ready():
            if dist.is_initialized():
                return True
        class nn:
            Linear = dict
        def Linear(biass): pass
    """
    assert check(text, helper=helper) == []


def test_the_same_calls_behind_other_conditions_are(check):
    text = """
        import torch, sys
        import torch.distributed as dist

        def ready():
            return sys.argv[1:] == []

        if ready():
            torch.compile(len)
        if not dist.is_initialized():
            torch.compile(len)
        if dist.is_available():
            pass
        else:
            torch.compile(len)
        try:
            torch.compile(len)
        except TypeError:
            torch.compile(len)
        if hasattr(torch, "compile"):
            torch.compile(len)
    """
    assert [line for _, line, _ in check(text)] == [9, 11, 17, 19, 21]


def test_a_plugins_objects_are_not_those_of_placeholders(check):
    """A name that a plugin brings is checked by the plugin's object."""
    with contextlib.ExitStack() as stack:
        from lamella.plugins import contributions

        withdraw = contributions.contribute(contributions.gather("lamella.compiler", {"compile": len}, "test"))
        stack.callback(withdraw)
        assert check("import torch\ntorch.compiler.compile([])\ntorch.compiler.substitute_in_graph([])\n")[0][1] == 3
    assert [line for _, line, _ in check("import torch\ntorch.compiler.compile([])\n")] == [2]


def test_a_module_whose_package_is_not_installed_is_reported(check, monkeypatch):
    from lamella._torch.run import names

    find_ours = names.find_ours

    def without(name):
        if name == "lamella.utils.tensorboard":
            raise ImportError("it needs the package tensorboard")
        return find_ours(name)

    monkeypatch.setattr(names, "find_ours", without)
    text = """
    from torch.utils.tensorboard import SummaryWriter
    writer = SummaryWriter()
    """
    assert check(text) == [("main", 2, "torch.utils.tensorboard: it needs the package tensorboard")]
    assert check("try:\n    import torch.utils.tensorboard\nexcept ImportError:\n    pass\n") == []
