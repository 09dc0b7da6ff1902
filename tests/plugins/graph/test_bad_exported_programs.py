"""Damaged and hostile files of exported programs are refused with an error that names the member."""

from __future__ import annotations

import io
import json
import zipfile

import lamella
import pytest
from lamella.serialization.errors import CheckpointError
from torch_archive_files import MODEL, file_of, members_of, refusal, with_model


def graph_of(model: dict) -> dict:
    return model["graph_module"]["graph"]


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda m: m.pop("graph_module"), "the member 'models/model.json': KeyError: 'graph_module'"),
        (
            lambda m: m["schema_version"].update(major=9),
            "has version 9 of the form of exported programs, and 8 is read",
        ),
        (lambda m: m["opset_version"].update(aten=11), "has version 11 of torch's operators"),
        (lambda m: graph_of(m)["nodes"][0].update(target="os.system"), "not here: os.system (models/model.json: node"),
        (lambda m: graph_of(m)["nodes"].reverse(), "node 'linear_1': there is no value 'dropout' before this place"),
        (lambda m: graph_of(m)["nodes"].append(graph_of(m)["nodes"][0]), "the value 'linear' is given twice"),
        (lambda m: graph_of(m)["nodes"][0]["inputs"][0].update(arg={"as_graph": {}}), "of the kind 'as_graph' is not"),
        (lambda m: graph_of(m)["nodes"][0]["inputs"].pop(), None),
        (lambda m: graph_of(m)["nodes"][0]["inputs"].clear(), "node 'linear': linear: argument 'input' is missing"),
        (lambda m: m["graph_module"]["signature"]["input_specs"].pop(), "its inputs do not fit their tree"),
        (lambda m: m["graph_module"]["signature"]["output_specs"].clear(), "its outputs do not fit their tree"),
        (
            lambda m: m["graph_module"]["signature"]["input_specs"][0]["parameter"].update(parameter_name="a\n}"),
            "is no name of a tensor",
        ),
        (
            lambda m: m["graph_module"]["module_call_graph"][0]["signature"].update(out_spec="[" * 20_000),
            "the member 'models/model.json': RecursionError",
        ),
        (
            lambda m: m["graph_module"]["module_call_graph"][0]["signature"].update(
                out_spec='[1, {"type": "os.PathLike"}]'
            ),
            "damaged, or too deep",
        ),
    ],
)
def test_models_that_are_refused(change, message):
    if message is None:  # the bias may be left out
        assert lamella.jit.load(with_model(change))(lamella.ones(2, 3)).shape == (2, 2)
    else:
        assert message in refusal(with_model(change))


@pytest.mark.parametrize(
    "name, message",
    [
        (".".join(["a"] * 20_000), "is no name of a tensor, or has more than 100 dots"),
        (".".join(["a"] * 102), "is no name of a tensor, or has more than 100 dots"),
        ("net..weight", "is no name of a tensor, or has more than 100 dots"),
        ("net.0.bias", "is given twice"),
    ],
)
def test_names_of_tensors_that_are_refused(name, message):
    assert message in refusal(with_name(name))


def test_a_deep_name_of_a_tensor():
    name = ".".join(["a"] * 101)
    assert name in dict(lamella.jit.load(with_name(name)).named_parameters())


def with_name(name: str) -> io.BytesIO:
    """Returns a file whose first weight has another name."""
    members, config = members_of("layers.pt2"), "data/weights/model_weights_config.json"
    model, weights = json.loads(members[MODEL]), json.loads(members[config])
    model["graph_module"]["signature"]["input_specs"][0]["parameter"]["parameter_name"] = name
    weights["config"][name] = weights["config"]["net.0.weight"]
    return file_of({**members, MODEL: json.dumps(model).encode(), config: json.dumps(weights).encode()})


def test_json_that_is_none():
    members = members_of("layers.pt2")
    for text in (b"{", b"[]", b"\xff", b"[" * 20_000):
        assert f"the member {MODEL!r} is no" in refusal(file_of({**members, MODEL: text}))


def test_a_tensor_beyond_its_bytes():
    members = members_of("layers.pt2")
    config = "data/weights/model_weights_config.json"
    weights = json.loads(members[config])
    weights["config"]["net.0.weight"]["tensor_meta"]["sizes"][0]["as_int"] = 2**40
    assert "is damaged: the member 'data/weights/weight_0'" in refusal(
        file_of({**members, config: json.dumps(weights).encode()})
    )


def with_weights(count: int, device: dict, bytes_of_each: int = 2**20) -> io.BytesIO:
    """Returns a file with buffers on several devices, which all have the same bytes."""
    members, config = members_of("layers.pt2"), "data/weights/model_weights_config.json"
    model, weights = json.loads(members[MODEL]), json.loads(members[config])
    for i in range(count):
        entry = {"arg": {"name": f"b_{i}"}, "buffer_name": f"b{i}", "persistent": True}
        model["graph_module"]["signature"]["input_specs"].insert(0, {"buffer": entry})
        meta = {
            **weights["config"]["net.0.weight"]["tensor_meta"],
            "sizes": [{"as_int": 1}],
            "strides": [{"as_int": 1}],
        }
        meta["device"] = {key: value + i if key == "index" else value for key, value in device.items()}
        weights["config"][f"b{i}"] = {**weights["config"]["net.0.weight"], "path_name": "all", "tensor_meta": meta}
    members |= {MODEL: json.dumps(model).encode(), config: json.dumps(weights).encode()}
    return file_of({**members, "data/weights/all": bytes(bytes_of_each)}, zipfile.ZIP_STORED)


def test_bytes_of_many_devices_are_read_once():
    """With a function as map_location each device has bytes of its own, whose reads are counted."""
    file = with_weights(30, {"type": "cuda", "index": 0})
    buffers = [b for name, b in lamella.jit.load(file, map_location="cpu").named_buffers() if name.startswith("b")]
    assert len(buffers) == 30 and len({b.untyped_storage().data_ptr() for b in buffers}) == 1
    with pytest.raises(CheckpointError, match="the member 'data/weights/all' would have 1048576 bytes, too many for"):
        lamella.jit.load(file, map_location=lambda storage, device: storage)


# ---- checks that a program has ---------------------------------------------------------------------------------------


def test_assertions_of_a_program():
    """The errors are those that torch 2.13 raises for such nodes."""

    def node(target: str, *args: dict, outputs: tuple = ()) -> dict:
        inputs = [{"name": f"a{i}", "arg": arg, "kind": 1} for i, arg in enumerate(args)]
        return {"name": target, "target": f"torch.ops.aten.{target}", "inputs": inputs, "outputs": list(outputs)}

    def with_assertions(scalar: bool) -> io.BytesIO:
        def change(model: dict) -> None:
            specs = model["graph_module"]["signature"]["input_specs"]
            given = next(s["user_input"]["arg"] for s in specs if "user_input" in s)
            total = {"as_tensor": {"name": "total"}}
            graph_of(model)["nodes"][:0] = [
                node("sum.default", given, outputs=(total,)),
                node("_assert_async.msg", total, {"as_string": "the sum is zero"}),
                node("_assert_scalar.default", {"as_bool": scalar}, {"as_string": "the number is small"}),
            ]

        return with_model(change)

    module = lamella.jit.load(with_assertions(True))
    assert module(lamella.ones(2, 3)).shape == (2, 2)
    with pytest.raises(RuntimeError, match="the sum is zero"):
        module(lamella.zeros(2, 3))
    with pytest.raises(RuntimeError, match="the number is small"):
        lamella.jit.load(with_assertions(False))(lamella.ones(2, 3))


def test_a_symbol_in_two_inputs():
    """torch 2.13 raises an error for such a program, too: ``Guard failed: y.size()[0] == x.size()[0]``."""

    def change(model: dict) -> None:
        symbol = {"as_expr": {"expr_str": "Symbol('s0', positive=True, integer=True)", "hint": {"as_int": 4}}}
        tensors = graph_of(model)["tensor_values"]
        tensors["x"]["sizes"][1] = tensors["parts_a"]["sizes"][0] = symbol

    module = lamella.jit.load(with_model(change, "two_inputs.pt2"))

    def call(x: int, a: int) -> object:
        return module(lamella.ones(2, x), {"b": lamella.ones(3, 2), "a": lamella.ones(a)}, 3, scale=2.0)

    for size in (4, 5):
        assert call(size, size) is not None
    for size in (1, 3):
        with pytest.raises(ValueError, match="has to have the size of dimension .*exported for equal sizes alone"):
            call(4, size)
