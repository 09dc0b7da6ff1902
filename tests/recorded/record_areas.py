"""Writes the public names of torch 2.13's modules, which the README's table counts, to areas.json. Needs torch."""

import ast
import importlib
import inspect
import json
import warnings
from pathlib import Path

import torch

assert torch.__version__.startswith("2.13."), f"recorded from torch 2.13, this is {torch.__version__}"
warnings.simplefilter("ignore")
MODULES = """torch torch.nn.init torch.nn.utils torch.nn.utils.rnn torch.nn.utils.parametrizations
torch.nn.utils.parametrize torch.nn.utils.prune torch.nn.parallel torch.nn.attention torch.optim
torch.optim.lr_scheduler torch.optim.swa_utils torch.distributions torch.distributions.constraints
torch.distributions.transforms torch.linalg torch.fft torch.special torch.signal.windows torch.sparse
torch.nested torch.masked torch.autograd torch.autograd.functional torch.autograd.graph
torch.autograd.forward_ad torch.func torch.amp torch.utils.data torch.utils.checkpoint
torch.utils.tensorboard torch.utils.benchmark torch.utils.cpp_extension torch.library torch.overrides
torch.profiler torch.accelerator torch.cuda torch.multiprocessing torch.distributed torch.jit
torch.compiler torch.export torch.fx torch.onnx torch.ao.quantization torch.hub torch.testing""".split()


def public(path):
    """Returns a module's ``__all__``; without one, what of torch can be called in it.

    Modules and Tensor itself are left out.
    """
    try:
        module = importlib.import_module(path)
    except ImportError:  # torch.utils.tensorboard needs another package
        [file] = Path(torch.__path__[0]).glob(path.partition(".")[2].replace(".", "/") + "/__init__.py")
        imports = [n for n in ast.parse(file.read_text()).body if isinstance(n, ast.ImportFrom)]
        return sorted(a.name for n in imports if n.module.startswith((path, "writer")) for a in n.names)
    names = getattr(module, "__all__", None) or [
        name
        for name, found in vars(module).items()
        if callable(found) and (getattr(found, "__module__", None) or "torch").startswith("torch")
    ]
    objects = {n: getattr(module, n) for n in sorted(names) if hasattr(module, n) and not n.startswith("_")}
    return [n for n, found in objects.items() if found is not torch.Tensor and not inspect.ismodule(found)]


def is_function(name):
    return inspect.isroutine(getattr(torch, name))


found = {path: public(path) for path in MODULES}
both = found.pop("torch")
found = {
    "torch:functions": [*filter(is_function, both)],
    "torch:others": [n for n in both if not is_function(n)],
    **found,
}
Path(__file__).with_name("areas.json").write_text(json.dumps(found, indent=0) + "\n")
print({path: len(names) for path, names in found.items()})
