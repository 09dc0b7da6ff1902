"""Writes torch_graphs/*.txt with torch 2.13: graphs as torch prints them. Needs torch: ``python record_graphs.py``."""

from __future__ import annotations

import re
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path

import torch
from script_programs import HERE, load, plain
from torch import nn

assert torch.__version__.startswith("2.13."), f"recorded from torch 2.13, this is {torch.__version__}"
warnings.simplefilter("ignore")
FOLDER = HERE / "torch_graphs"
# Programs of programs/, whose graphs have together each form that torch prints.
SCRIPTED = (
    "arithmetic.chained_comparison",
    "arithmetic.complex_operators",
    "classes.method_changes_it",
    "classes.operators",
    "comprehension.dictionary",
    "control_flow.chain_of_elif",
    "dicts.count_letters",
    "dicts.values_are_tensors",
    "early_return.in_nested_loops",
    "enums.chain_of_branches",
    "errors.raised_with_an_f_string",
    "fork.list_of_futures",
    "formatting.print_values",
    "functions.keywords",
    "indexing.by_mixture",
    "inplace.through_a_view",
    "lists.slices_with_step",
    "loops.break_in_nested_loops",
    "loops.while_true_with_break",
    "modules.CallsThroughAnInterface",
    "modules.ControlFlow",
    "modules.CountsInAnAttribute",
    "modules.LoopsOverAModuleDict",
    "modules.RecurrentCell",
    "optional.refined_by_or",
    "strings.escapes",
    "tensors.creation_with_dtype",
    "tensors.device_argument",
    "tensors.gradient_is_off",
    "tuples.named_rebuilt",
    "casts.union_of_three",
)


class Net(nn.Module):
    """A small network of convolutions, with weights that are not random."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3, padding=1)
        self.norm = nn.BatchNorm2d(2)
        self.out = nn.Linear(2 * 4 * 4, 3)
        filled(self)

    def forward(self, x):
        x = torch.max_pool2d(torch.relu(self.norm(self.conv(x))), 2)
        return torch.log_softmax(self.out(x.flatten(1)), 1)


def filled(module: nn.Module) -> nn.Module:
    """Gives the parameters of a module values that are not random."""
    with torch.no_grad():
        for p in module.parameters():
            p.copy_((torch.arange(p.numel()) % 7 - 3).reshape(p.shape) / 8)
    return module


def multiplied(x, n: int):
    y = x
    for _ in range(n):
        y = y * x + 1.0
    return y


def chain(x, a, b):
    return torch.tanh(x * a + b) * torch.sigmoid(x)


def traced(function: Callable, *inputs: torch.Tensor) -> torch.jit.ScriptFunction:
    return torch.jit.trace(function, inputs, check_trace=False)


def optimized() -> str:
    """Returns the graph that torch runs after it has seen inputs twice; their types are in it."""
    script, x = torch.jit.script(chain), torch.ones(2, 3, requires_grad=True)
    for _ in range(3):
        script(x, x, x)
    return str(script.graph_for(x, x, x))


def graphs() -> dict[str, str]:
    """Returns the text of each graph, by the name of its file."""
    made = {program.name: program for program in load(torch)}
    found = {f"scripted_{name.replace('.', '_')}": torch.jit.script(made[name].make()).graph for name in SCRIPTED}
    image, net = torch.arange(64.0).view(1, 1, 8, 8), Net().eval()
    script, trace = torch.jit.script(net), traced(net, image)
    recurrent, sequence = filled(nn.LSTM(3, 4)), torch.arange(15.0).view(5, 1, 3)
    found |= {
        "scripted_inlined_cell": torch.jit.script(made["modules.RecurrentCell"].make()).inlined_graph,
        "scripted_net": script.graph,
        "scripted_net_inlined": script.inlined_graph,
        "scripted_net_frozen": torch.jit.freeze(script).graph,
        "scripted_loop": torch.jit.script(multiplied).graph,
        "scripted_lstm_cell": torch.jit.script(filled(nn.LSTMCell(3, 4))).graph,
        "traced_chain": traced(chain, torch.ones(2, 3), torch.ones(3), torch.tensor(2.0)).graph,
        "traced_lstm_inlined": traced(recurrent, sequence).inlined_graph,
        "traced_net": trace.graph,
        "traced_net_inlined": trace.inlined_graph,
        "traced_net_frozen": torch.jit.freeze(trace).graph,
        "traced_views": traced(lambda x: x.t()[1:, None].expand(-1, 4, -1) + 1, torch.ones(2, 3)).graph,
        "traced_tuples": traced(lambda x: (x.split(1), x.max(0)), torch.ones(2, 3)).graph,
        "optimized_chain": optimized(),
    }
    return {name: str(graph) for name, graph in found.items()}


def short(text: str) -> str:
    """Shortens paths of files to what they are in a package, and takes addresses away."""
    return plain(re.sub(r"(?<=# )/\S*?/site-packages/", "", text))


if __name__ == "__main__":
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    texts = graphs()
    for name, text in texts.items():
        Path(FOLDER / f"{name}.txt").write_text(short(text))
    print(len(texts), "graphs,", sum(map(len, texts.values())), "characters")
