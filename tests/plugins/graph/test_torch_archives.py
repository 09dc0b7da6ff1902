"""Programs that torch 2.13 saved give what they gave in torch; those of wrong files are refused, and run nothing."""

from __future__ import annotations

import io
import json
from pathlib import Path

import lamella
import pytest
from lamella.serialization.errors import CheckpointError
from program_files import decoded
from script_programs import encode, same

FOLDER = Path(__file__).resolve().parent / "torch_archives"
CALLS = json.loads((FOLDER / "archives.json").read_text())
RUN = [name for name in CALLS if not name.startswith("missing.")]
MISSING = {
    "missing.pt": "not here: aten::frobenius_norm (code/",
    "missing.pt2": "not here: aten::frobenius_norm (models/",
}


def load(name: str, **options):
    return lamella.jit.load(FOLDER / name, **options)


def again(module):
    """Returns a module that was saved in Lamella's form and loaded."""
    file = io.BytesIO()
    module.save(file)
    file.seek(0)
    return lamella.jit.load(file)


def wrong_calls(module, name: str) -> list:
    """Returns the calls of a file whose results differ from those of torch."""
    wrong = []
    for call in CALLS[name]:
        found = encode(getattr(module, call["method"])(*map(decoded, call["inputs"])))
        if not same(found, call["result"]):
            wrong.append((call["method"], found, call["result"]))
    return wrong


@pytest.mark.parametrize("grad", [True, False], ids=["grad", "no_grad"])
@pytest.mark.parametrize("name", RUN)
def test_results_are_those_of_torch(name, grad):
    with lamella.set_grad_enabled(grad):
        assert wrong_calls(load(name), name) == []


@pytest.mark.parametrize("name", RUN)
def test_saved_again(name):
    made = again(load(name))
    assert isinstance(made, lamella.jit.ScriptModule)
    assert wrong_calls(made, name) == []


@pytest.mark.parametrize("name", MISSING)
def test_missing_operators_are_listed(name):
    with pytest.raises(CheckpointError) as error:
        load(name)
    assert MISSING[name] in str(error.value)


def test_a_file_object_is_read_from_its_position():
    file = io.BytesIO(b"before" + (FOLDER / "function.pt").read_bytes())
    file.seek(6)
    extra = {"labels.json": "", "other": ""}
    assert lamella.jit.load(file, _extra_files=extra)(lamella.ones(1), 2)[1].tolist() == [1.0]
    assert extra == {"labels.json": b'["cat", "dog"]', "other": b""}
    assert file.read() == b""


# ---- modules ---------------------------------------------------------------------------------------------------------


def test_parameters_buffers_and_submodules():
    net = load("convolutions.pt")
    assert list(net.state_dict()) == [
        *("conv.weight", "conv.bias", "norm.weight", "norm.bias", "norm.running_mean", "norm.running_var"),
        *("norm.num_batches_tracked", "out.weight", "out.bias"),
    ]
    assert [n for n, _ in net.named_modules()] == ["", "conv", "norm", "out"]
    assert all(isinstance(p, lamella.nn.Parameter) and p.requires_grad for p in net.parameters())
    assert net.original_name == "Net" and net.conv.original_name == "Conv2d" and not net.training
    assert "aten::batch_norm(" in str(net.inlined_graph)


def test_shared_tensors_are_shared():
    module = load("containers.pt")
    assert module.first.weight is module.second.weight
    assert module.names == ["first", "second"] and module.pair == (3, "text") and module.last is None
    assert module.second.bias is None


def test_training_changes_buffers():
    module = load("norm_in_training.pt")
    x = lamella.tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])
    module(x)
    assert module.norm.num_batches_tracked.item() == 1
    assert module.norm.running_mean.tolist() == pytest.approx([0.2, 0.2, 0.2])
    module.eval()
    module(x)
    assert module.norm.num_batches_tracked.item() == 1
    assert "scale" in dict(module.named_buffers())


def test_a_module_can_be_trained():
    module = load("layers.pt2")
    loss = module(lamella.ones(3, 3)).pow(2).sum()
    loss.backward()
    before = loss.item()
    with lamella.no_grad():
        for p in module.parameters():
            p -= 0.1 * p.grad
    assert module(lamella.ones(3, 3)).pow(2).sum().item() < before


def test_classes_of_the_program():
    module = load("results.pt")
    assert module.kind.name == "SQUARE" and module.kind.value == 2
    found = module(lamella.ones(2))
    assert type(found).__name__ == "Point" and found.count == 3
    module.kind = type(module.kind).LINEAR
    assert module(lamella.ones(2)).count == -1
    assert again(module)(lamella.ones(2)).count == -1


def test_map_location():
    assert {str(p.device) for p in load("cell.pt", map_location="meta").parameters()} == {"meta"}
    assert {str(p.device) for p in load("counts.pt2", map_location="meta").buffers()} == {"meta"}


def test_in_another_program():
    class Both(lamella.nn.Module):
        def __init__(self):
            super().__init__()
            self.scripted, self.exported = load("control_flow.pt"), load("layers.pt2")

        def forward(self, x, rows):
            return self.scripted.norm(x, 2.0), self.exported(rows)

    both = lamella.jit.script(Both())
    x, rows = lamella.ones(1, 2), lamella.ones(2, 3)
    expected = load("layers.pt2")(rows)
    for module in (both, again(both)):
        norm, found = module(x, rows)
        assert norm == 2.0 and found.tolist() == expected.tolist()


# ---- exported programs -----------------------------------------------------------------------------------------------


def test_exported_buffers():
    module = load("counts.pt2")
    assert list(module.state_dict()) == [
        *("calls", "norm.weight", "norm.bias", "norm.running_mean", "norm.running_var", "norm.num_batches_tracked"),
    ]
    module(lamella.ones(3, 2))
    module(lamella.ones(3, 2))
    assert module.calls.tolist() == [2.0] and module.norm.num_batches_tracked.item() == 2
    assert again(module).calls.tolist() == [2.0]


@pytest.mark.parametrize("name", ["norm_decomposed.pt2"])
def test_mutations_among_the_outputs_are_written_back(name):
    module = load(name)
    mean = module.running_mean
    module(lamella.tensor([[1.0, 2.0], [3.0, 2.0], [5.0, 2.0]]))
    assert module.num_batches_tracked.item() == 1
    assert module.running_mean is mean and mean.tolist() == pytest.approx([0.3, 0.2])


def test_sizes_are_checked():
    module = load("dynamic.pt2")
    assert [t.shape[0] for t in module(lamella.ones(20, 4))] == [40, 20, 19]
    for shape, message in [
        ((5, 5), "'x' has to have size 4 in dimension 1, got 5; the program was exported for these sizes alone"),
        ((101, 4), "'x' has to have size from 4 to 100 in dimension 0, got 101"),
        ((4,), "'x' has to have 2 dimensions, got 1"),
    ]:
        with pytest.raises(ValueError, match=message):
            module(lamella.ones(shape))


def test_numbers_are_checked():
    module = load("two_inputs.pt2")
    parts = {"b": lamella.ones(3, 2), "a": lamella.ones(4)}
    result, scale = module(lamella.ones(2, 4), parts)
    assert scale == 2.0 and result["s"][1][1] == 3 and result["none"] is None
    assert module(lamella.ones(2, 4), parts, n=3, scale=2.0)[1] == 2.0
    with pytest.raises(ValueError, match="the program was exported for n=3, and computes nothing for another value"):
        module(lamella.ones(2, 4), parts, 4)


def test_graphs_have_names_and_places():
    assert "code/__torch__.py:" in str(load("control_flow.pt").graph)
    assert "%sym_size_int_1 : int = aten::size.int(" in str(load("dynamic.pt2").graph)
