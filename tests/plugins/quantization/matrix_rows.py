"""The layers and modes in the table of docs/quantization.md. Each function runs a case, which is a use on a device,
beside one of them, and raises unless the result is right."""

from __future__ import annotations

import copy
import io
import pickle
from contextlib import ExitStack, closing

import lamella
import numpy as np
from lamella.library import Library
from lamella.overrides import TorchFunctionMode
from lamella.utils._python_dispatch import TorchDispatchMode
from lamella.utils.data import DataLoader, Dataset
from matrix_uses import CLASSES, DEPTH, FEATURES, ROWS, USES, X, numbers
from tenants.autocast import Autocast
from threads import in_threads

GRAD = numbers(ROWS, max(DEPTH, FEATURES), seed=9)
ANCHORS = ("modes", "profiler", "names", "autocast", "autograd", "backend")


class Case:
    """A use of quantized tensors on a device. ``folder`` is for files."""

    def __init__(self, use, device, folder):
        self.use, self.device, self.folder = USES[use], device, folder
        self.module, self.x = self.use.module(device), lamella.tensor(X).to(device)

    @property
    def way(self):
        """The way of the call, which depends on the device where it is fused."""
        return "composite" if self.use.way == "fused" and self.device != "cpu" else self.use.way

    def call(self, x=None):
        return self.module(self.use.operand(self.x if x is None else x))

    def passes(self, x=None):
        """Calls the module and checks the result, which it returns."""
        made = self.call(x)
        self.use.check(made)
        return made


def alone(case):
    """Nothing is on; the call has the way of its column."""
    with lamella.quantization.trace() as calls:
        case.passes()
    assert [(c.operator, c.way) for c in calls] == ([(case.use.operator, case.way)] if case.way else [])


# ---- names and derivatives ------------------------------------------------------------------------------------------


def names(case):
    made = case.passes(case.x.rename("n", "c"))
    assert made.names == ("n", "c" if case.use.features == DEPTH else None)


def backward(case, compute=None):
    leaf = case.x.clone().requires_grad_()
    made = (compute or case.call)(leaf)
    case.use.check(made.detach())
    assert made.requires_grad
    values = made.dequantize() if made.is_quantized else made
    grad = GRAD[:, : case.use.features]
    (values * lamella.tensor(grad).to(case.device)).sum().backward()
    np.testing.assert_allclose(leaf.grad.cpu().numpy(), case.use.gradient(grad), rtol=1e-5, atol=1e-5)


def anomaly_mode(case):
    with lamella.autograd.detect_anomaly():
        backward(case)


def checkpoint(case):
    from lamella.utils.checkpoint import checkpoint

    for reentrant in (False, True):
        backward(case, lambda leaf, reentrant=reentrant: checkpoint(case.call, leaf, use_reentrant=reentrant))


def no_grad(case):
    for block in (lamella.no_grad(), lamella.inference_mode()):
        with block:
            assert not case.passes(case.x.clone().requires_grad_()).requires_grad


# ---- the profiler ---------------------------------------------------------------------------------------------------


def profile(case):
    """The call is in the profile once, by its name, beside what it calls; a product of floating numbers is counted."""
    every = {"record_shapes": True, "with_stack": True, "profile_memory": True, "with_modules": True}
    with lamella.profiler.profile(with_flops=True, **every) as made:
        case.passes()
    events = made.events()
    [module] = [e for e in events if e.name == f"nn.Module: {type(case.module).__name__}"]
    assert [e.name for e in events if e.cpu_parent is module].count(case.use.operator) == 1
    if case.use.operator == "aten::linear":
        flops = {e.key: e.flops for e in made.key_averages()}
        assert flops["aten::linear"] + flops.get("aten::bmm", 0) == 2 * ROWS * DEPTH * FEATURES


def observer(case):
    """An observer gets the name and the arguments of the call."""
    seen = set()

    def enter(record):
        seen.add((record.name, any(t.is_quantized for t in record.inputs if isinstance(t, lamella.Tensor))))

    profiler = lamella.profiler
    watching = profiler.RecordFunctionCallback(enter).scopes({profiler.RecordScope.FUNCTION}).needs_inputs()
    handle = profiler.add_global_callback(watching)
    try:
        case.passes()
    finally:
        profiler.remove_callback(handle)
    assert (case.use.operator, case.way is not None) in seen, seen


def memory_history(case):
    """All memory that the result has is in a snapshot, with the operator that made it."""
    with lamella.profiler.record_memory_history():
        made = case.call()
        blocks = lamella.profiler.memory_snapshot()["blocks"]
    case.use.check(made)
    here = [b for b in blocks if b["device"].partition(":")[0] == case.device]
    assert here and all(b["operator"] for b in blocks), blocks


def nan_guard(case):
    with lamella.profiler.nan_guard(inputs=True):
        case.passes()


# ---- modes and layers -----------------------------------------------------------------------------------------------


def deterministic(case):
    lamella.use_deterministic_algorithms(True)
    try:
        first, second = ((t.dequantize() if t.is_quantized else t) for t in (case.passes(), case.passes()))
    finally:
        lamella.use_deterministic_algorithms(False)
    assert first.equal(second)


def function_mode(case):
    seen = []

    class Mode(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(func)
            return func(*args, **(kwargs or {}))

    with Mode():
        case.passes()
    assert seen


def dispatch_mode(case):
    seen = []

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    with Mode():
        case.passes()
    assert any(f"{case.use.operator}." in name for name in seen), seen


def python_layers(case):
    """A layer in Python gets the call at each anchor. One inside of quantization gets what the call is made of: plain
    tensors, except for views, which are made without quantization's help."""
    for anchor in ANCHORS:
        for order in ({"outside": ["quantized"]}, {"inside": ["quantized"]} if anchor == "backend" else {}):
            seen = {}

            def see(call, *args, seen=seen, **kwargs):
                tensors = [a for a in args if isinstance(a, lamella.Tensor)]
                if call.category != "view":
                    seen.setdefault(call.name, [t.is_quantized for t in tensors])
                return call(*args, **kwargs)

            with closing(Library("beside", "DEF")) as library:
                with library.register_layer("beside", see, at=anchor, **order).on():
                    made = case.call()
            case.use.check(made)
            if "inside" in order:
                assert seen and not any(map(any, seen.values())), seen
            else:
                assert any(seen[case.use.operator]) is (case.way is not None), (anchor, seen)


def example_layers(case):
    """The layer of examples/layer_plugin, where it is installed: its two versions count the same operations."""
    installed = [p.name for p in lamella.plugins.status() if p.name.startswith("flops") and p.state == "loaded"]
    if not installed:
        return case.passes()
    from lamella_flops import native, twin

    native.reset(), twin.reset()
    with native.on(), twin.on():
        case.passes()
    assert native.counts() == twin.counts()


def autocast(case):
    """A layer of policies gives linear layers float16; the weight remains the same codes."""
    with closing(Autocast(lamella.float16)) as cast, cast():
        made = case.call()
    low = case.use.operator == "aten::linear"
    assert made.dtype == (lamella.float16 if low else lamella.float32)
    case.use.check(made, 2e-3)


def together(case):
    """Names, a profile, a guard, modes and a layer at once."""
    seen = []

    class Mode(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(func)
            return func(*args, **(kwargs or {}))

    def see(call, *args, **kwargs):
        seen.append(call.name)
        return call(*args, **kwargs)

    with ExitStack() as stack:
        library = stack.enter_context(closing(Library("beside", "DEF")))
        stack.callback(lamella.use_deterministic_algorithms, False)
        lamella.use_deterministic_algorithms(True)
        profile = stack.enter_context(lamella.profiler.profile(record_shapes=True, with_modules=True))
        blocks = lamella.profiler.nan_guard(), lamella.no_grad(), Mode(), lamella.quantization.trace()
        *_, calls = [stack.enter_context(block) for block in blocks]
        stack.enter_context(library.register_layer("beside", see, at="autograd").on())
        names(case)
    assert case.use.operator in seen and case.use.operator in [e.name for e in profile.events()]
    assert [(c.operator, c.way) for c in calls] == ([(case.use.operator, case.way)] if case.way else [])


# ---- threads and processes ------------------------------------------------------------------------------------------


def threads(case):
    in_threads(*[lambda: [case.passes() for _ in range(20)]] * 4)


class Examples(Dataset):
    """One example: an operand on the host, or what a model computes of it there."""

    def __init__(self, case, computes):
        self.module = case.use.module("cpu") if computes else lamella.nn.Identity()
        self.x = case.use.operand(case.x.cpu())

    def __len__(self):
        return 1

    def __getitem__(self, i):
        return self.module(self.x).detach()


def first(batch):
    return batch[0]


def workers(case):
    """Workers of a DataLoader give operands, rows of operands that become a batch, and results of a model."""
    for x in DataLoader(Examples(case, False), collate_fn=first, num_workers=2):
        case.use.check(case.module(x.to(case.device)))
    for x in DataLoader(list(case.use.operand(case.x.cpu())), batch_size=ROWS, num_workers=2):
        case.use.check(case.module(x.to(case.device)))
    for made in DataLoader(Examples(case, True), collate_fn=first, num_workers=2):
        case.use.check(made)


def answer(module, device, to, back):
    back.put(module.to(device)(to.get().to(device)).detach().cpu())
    to.get()  # a sender lives until its tensors are received


def process(case):
    """A model and its input are sent to another process, which sends the result."""
    context = lamella.multiprocessing.get_context("spawn")
    to, back = context.SimpleQueue(), context.SimpleQueue()
    other = context.Process(target=answer, args=(case.module.to("cpu"), case.device, to, back))
    other.start()
    to.put(case.use.operand(case.x.cpu()))
    case.use.check(back.get())
    to.put(None)
    other.join()


# ---- files ----------------------------------------------------------------------------------------------------------


def written(thing, **options):
    file = io.BytesIO()
    lamella.save(thing, file, **options)
    file.seek(0)
    return lamella.load(file)


def files(case):
    """A file has the state of the module and its input; another one has the whole module."""
    read = written({"state": case.module.state_dict(), "x": case.use.operand(case.x)})
    fresh = case.use.module(case.device)
    with lamella.no_grad():
        for t in fresh.state_dict().values():
            t.zero_() if isinstance(t, lamella.Tensor) else None
    fresh.load_state_dict(read["state"])
    case.use.check(fresh(read["x"]))
    with lamella.serialization.safe_globals(CLASSES):
        case.use.check(written(case.module)(read["x"]))


def copies(case):
    """Pickles, deep copies, and copies on the host that come back."""
    for copied in (
        lambda t: pickle.loads(pickle.dumps(t)),
        copy.deepcopy,
        lambda t: copy.deepcopy(t).to("cpu").to(case.device),
    ):
        case.use.check(copied(case.module)(copied(case.use.operand(case.x))))
        case.use.check(copied(case.call().detach()))


def tensors_of(case):
    held = {name: t for name, t in case.module.state_dict().items() if isinstance(t, lamella.Tensor)}
    return {**held, "x": case.use.operand(case.x)}


def torch_file(case):
    read = written(tensors_of(case), format="torch")
    case.use.check(case.module(read["x"].to(case.device)))


def safetensors(case):
    path = case.folder / "x.safetensors"
    state = {f"state.{name}": t for name, t in case.module.state_dict().items()}
    lamella.serialization.save_safetensors({**state, "x": case.use.operand(case.x)}, path)
    read = lamella.serialization.load_safetensors(path, case.device)
    fresh = case.use.module(case.device)
    fresh.load_state_dict({name.removeprefix("state."): t for name, t in read.items() if name != "x"})
    case.use.check(fresh(read["x"]))


class Values(lamella.nn.Module):
    """The whole of a case, from plain numbers to plain numbers."""

    def __init__(self, case):
        super().__init__()
        self.module, self.operand = case.module, case.use.operand

    def forward(self, x):
        made = self.module(self.operand(x))
        return made.dequantize() if made.is_quantized else made


def onnx(case):
    import onnxruntime

    file = io.BytesIO()
    lamella.onnx.export(Values(case), case.x, file)
    [made] = onnxruntime.InferenceSession(file.getvalue()).run(None, {"x": X})
    case.use.check(lamella.from_numpy(made))
