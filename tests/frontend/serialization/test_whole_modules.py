"""Whole modules in files of Lamella and torch: what comes back, what is refused, and what hostile files cannot do."""

import contextlib
import io
import json
import pickle
import re
import struct
import sys
import types
import zipfile
from pathlib import Path

import lamella
import numpy as np
import pytest
from lamella import nn, serialization
from lamella.serialization import CheckpointError

RECORDED = Path(__file__).parents[2] / "recorded" / "torch_files"
calls = []  # what code of Recorder was called


class Recorder(nn.Module):
    """A module that notes each call of its code."""

    def __new__(cls, *args):
        calls.append(("__new__", args))
        return super().__new__(cls)

    def __init__(self):
        calls.append(("__init__", ()))
        super().__init__()
        self.kept = 1

    def __reduce__(self):
        raise AssertionError("no file calls __reduce__")


class Net(nn.Module):
    class Scale(nn.Module):
        def __init__(self):
            super().__init__()
            self.by = nn.Parameter(lamella.tensor([2.0, 3.0]), requires_grad=False)

        def forward(self, x):
            return x * self.by

    def __init__(self):
        super().__init__()
        self.first, self.tied = nn.Linear(2, 2), nn.Linear(2, 2)
        self.tied.weight = self.first.weight
        self.layers = nn.ModuleList([Net.Scale(), nn.BatchNorm1d(2)])
        self.again = self.layers[0]
        self.register_buffer("count", lamella.tensor([1, 2]))
        self.register_buffer("passing", lamella.tensor([0.5]), persistent=False)
        self.register_parameter("nothing", None)
        self.settings = {"sizes": (1, 2), 3: [None, "text"], "dtype": lamella.float32}
        self.activation, self.plain = nn.functional.relu, lamella.arange(3)

    def forward(self, x):
        return self.activation(self.layers[0](self.tied(self.first(x))) + self.passing)


class NoModule:
    pass


ALLOWED = [Net, Net.Scale, nn.Linear, nn.ModuleList, nn.BatchNorm1d]
both = pytest.mark.parametrize("form", ["lamella", "torch"])


def saved(obj, form="lamella"):
    file = io.BytesIO()
    lamella.save(obj, file, format=form)
    file.seek(0)
    return file


def again(obj, form="lamella", allowed=(), **keywords):
    with serialization.safe_globals(list(allowed)):
        return lamella.load(saved(obj, form), **keywords)


def numbers(net, x):
    """Computes Net.forward by numpy, from the state dict."""
    at = {name: t.numpy() for name, t in net.state_dict().items()}
    inner = x @ at["first.weight"].T + at["first.bias"]
    outer = inner @ at["tied.weight"].T + at["tied.bias"]
    return np.maximum(outer * np.array([2, 3], np.float32) + np.float32(0.5), 0)


@both
def test_what_a_module_holds_comes_back(form):
    net = Net().eval()
    net.layers[1].running_mean.copy_(lamella.tensor([5.0, 6.0]))
    got = again({"net": [net, net]}, form, ALLOWED)["net"]
    assert got[0] is got[1] and type(got[0]) is Net
    new = got[0]
    assert new.tied.weight is new.first.weight and new.again is new.layers[0] and not new.training
    assert type(new.first.weight) is nn.Parameter and new.first.bias.requires_grad == net.first.bias.requires_grad
    assert not new.again.by.requires_grad and new.nothing is None and new.activation is nn.functional.relu
    assert new.settings == net.settings and type(new.settings["sizes"]) is tuple and new.plain.tolist() == [0, 1, 2]
    assert list(new.state_dict()) == list(net.state_dict()) and "passing" not in new.state_dict()
    assert [n for n, _ in new.named_parameters()] == [n for n, _ in net.named_parameters()]
    assert new.layers[1].running_mean.tolist() == [5, 6] and repr(new) == repr(net)
    x = np.array([[1, -2], [0.5, 3]], np.float32)
    np.testing.assert_allclose(new(lamella.from_numpy(x)).detach().numpy(), numbers(net, x), rtol=1e-5)
    new.register_forward_hook(lambda module, args, result: result + 1)
    np.testing.assert_allclose(new(lamella.from_numpy(x)).detach().numpy(), numbers(net, x) + 1, rtol=1e-5)


@both
@pytest.mark.parametrize("name", ["lamella.nn.Linear", "lamella.nn.modules.linear.Linear", "torch.nn.Linear"])
def test_each_name_of_a_class_stands_for_it(form, name):
    """A pair whose name is one of the class's, as a program that was written for torch has it."""
    layer = nn.Linear(2, 3)
    file = saved(layer, form)
    assert type(lamella.load(file, weights_only=False)) is nn.Linear
    file.seek(0)
    with serialization.safe_globals([(nn.Linear, name)]):
        assert lamella.equal(lamella.load(file).weight, layer.weight)


@both
def test_the_line_of_the_message_allows_the_file(form):
    net = nn.Sequential(Net(), nn.Dropout(0.25))
    file = saved({"model": net}, form)
    for keywords in ({}, {"weights_only": True}):
        file.seek(0)
        with pytest.raises(
            CheckpointError, match=r"nn\.(\w+\.)*Sequential at obj\['model'\], which is not built"
        ) as seen:
            lamella.load(file, **keywords)
    with serialization.safe_globals([nn.Sequential, nn.Dropout]):
        file.seek(0)
        with pytest.raises(CheckpointError, match=r"test_whole_modules\.Net at obj\['model'\]\.0, which is not built"):
            lamella.load(file)
    with serialization.safe_globals([nn.Sequential, Net, Net.Scale, nn.Linear, nn.ModuleList]):
        file.seek(0)
        with pytest.raises(CheckpointError, match=r"BatchNorm1d at obj\['model'\]\.0\.layers\.1, which is not"):
            lamella.load(file)
    line = str(seen.value).rpartition("allow it by ")[2]
    with serialization.safe_globals([]):
        exec(line, {"lamella": lamella})
        file.seek(0)
        assert type(lamella.load(file)["model"][0].again) is Net.Scale
    file.seek(0)
    assert lamella.load(file, weights_only=False)["model"][1].p == 0.25


def test_a_module_that_a_tensor_holds_is_refused_and_built():
    tensor = lamella.ones(1)
    tensor.maker = nn.Sequential(nn.ReLU())
    file = saved([tensor])
    with pytest.raises(CheckpointError, match=r"names lamella\.nn\.Sequential, which is not built"):
        lamella.load(file)
    file.seek(0)
    assert type(lamella.load(file, weights_only=False)[0].maker[0]) is nn.ReLU


@both
def test_a_data_parallel_module_has_its_public_name(form):
    file = saved(nn.DataParallel(nn.Linear(1, 2), device_ids=[]), form)
    with pytest.raises(
        CheckpointError, match=r"add_safe_globals\(\[lamella\.nn\.DataParallel, lamella\.nn\.Linear\]\)"
    ):
        lamella.load(file)
    file.seek(0)
    with serialization.safe_globals([nn.DataParallel, nn.Linear]):
        assert lamella.load(file)(lamella.ones(3, 1)).shape == (3, 2)


def test_modules_in_shards(tmp_path):
    net = Net()
    serialization.save_sharded({"net": net}, tmp_path, 16)
    with pytest.raises(CheckpointError, match=r"test_whole_modules\.Net at obj\['net'\]"):
        serialization.load_sharded(tmp_path)
    assert lamella.equal(serialization.load_sharded(tmp_path, weights_only=False)["net"].tied.weight, net.first.weight)
    with serialization.safe_globals(ALLOWED):
        assert serialization.load_sharded(tmp_path)["net"].count.tolist() == [1, 2]


def test_unsafe_globals_are_those_that_are_not_allowed():
    file = saved(nn.Sequential(Net(), nn.TransformerEncoderLayer(2, 1, 2)), "torch")
    with serialization.safe_globals([*ALLOWED, nn.MultiheadAttention, nn.LayerNorm, nn.Dropout]):
        unsafe = serialization.get_unsafe_globals_in_checkpoint(file)
    homes = ("container.Sequential", "linear.NonDynamicallyQuantizableLinear", "transformer.TransformerEncoderLayer")
    assert unsafe == [f"torch.nn.modules.{home}" for home in homes]


def test_tensors_of_a_module_have_the_names_of_its_state_dict():
    net = Net()
    file = saved({"model": net, "step": lamella.ones(1)})
    named = serialization.list_tensors(file)
    assert {f"model.{name}" for name in net.state_dict()} <= set(named) and "step" in named
    file.seek(0)
    assert lamella.load(file, tensors=["model.layers.1.weight"])["model.layers.1.weight"].tolist() == [1, 1]
    file.seek(0)
    assert lamella.load(file, map_location="meta", weights_only=False)["model"].tied.bias.is_meta


def parametrized():
    layer = nn.Linear(2, 2)
    nn.utils.parametrizations.weight_norm(layer)
    return layer


def with_hook(register):
    net = Net()
    getattr(net.layers[1], register)(print)
    return net


class OwnState(nn.Module):
    def __getstate__(self):
        return [1]


@both
@pytest.mark.parametrize(
    "make, words",
    [
        (
            lambda: with_hook("register_forward_hook"),
            r"layers\.1.*a BatchNorm1d with a hook in _forward_hooks, .*print",
        ),
        (lambda: with_hook("register_full_backward_pre_hook"), "BatchNorm1d with a hook in _backward_pre_hooks"),
        (lambda: with_hook("register_load_state_dict_post_hook"), "a hook in _load_state_dict_post_hooks"),
        (lambda: nn.LazyLinear(3), "a LazyLinear whose parameters have no shape; run the module once"),
        (parametrized, r"a parametrized module cannot be pickled.*save its state_dict\(\)"),
        (OwnState, r"is a OwnState, whose __getstate__\(\) returns a list"),
        (lambda: nn.Sequential(nn.ReLU(), nn.LayerNorm(1)).register_module("f", NoModule()), "submodule"),
    ],
)
def test_what_cannot_be_saved_is_refused_where_it_stands(form, make, words):
    with pytest.raises(TypeError, match=words):
        saved(make(), form)


@both
def test_an_attribute_that_no_file_holds_is_named_with_its_place(form):
    net = Net()
    net.layers[1].key = lambda: 1
    with pytest.raises(TypeError, match=r"\.layers\.1\.key"):
        saved([net], form)


def test_a_shared_module_may_hold_itself_in_a_file_of_torch():
    net = nn.Sequential(nn.ReLU())
    net[0].__dict__["owner"] = net
    assert (new := again(net, "torch", [nn.Sequential, nn.ReLU]))[0].owner is new
    with pytest.raises(TypeError, match="contains itself"):
        saved(net)


# ---- files of torch --------------------------------------------------------------------------------------------------


def test_modules_that_torch_saved_compute_what_they_computed_there():
    read = lamella.load(RECORDED / "modules.pt", weights_only=False)
    model, x = read["model"], read["x"]
    assert model["again"] is model["tail"] and type(model["lstm"]) is nn.LSTM and not model.training
    results = [model["lstm"](x)[0], model["encoder"](x), model["tail"](x)]
    for ours, theirs in zip(results, read["results"], strict=True):
        np.testing.assert_allclose(ours.detach().numpy(), theirs.numpy(), rtol=1e-5, atol=1e-6)
    model["lstm"].weight_ih_l0 = nn.Parameter(lamella.zeros(16, 4))  # no second list of weights is left behind
    assert not lamella.allclose(model["lstm"](x)[0], read["results"][0])
    with pytest.raises(
        pickle.UnpicklingError, match=r"torch\.nn\.modules\.container\.ModuleDict at obj\['model'\]"
    ) as e:
        lamella.load(RECORDED / "modules.pt")
    with serialization.safe_globals([]):
        exec(str(e.value).rpartition("allow it by ")[2], {"lamella": lamella})
        assert type(lamella.load(RECORDED / "modules.pt")["model"]["encoder"]) is nn.TransformerEncoderLayer


def test_classes_in_a_file_for_torch_have_torchs_names():
    layers = nn.Sequential(nn.MultiheadAttention(2, 1), nn.ParameterList([nn.Parameter(lamella.ones(1))]), nn.NLLLoss())
    with zipfile.ZipFile(saved(layers, "torch")) as file:
        data = file.read("archive/data.pkl")
    found = set(re.findall(rb"ctorch\.nn\.modules\.(\w+\n\w+)\n", data))
    homes = ("activation MultiheadAttention", "container ParameterList", "container Sequential", "loss NLLLoss")
    assert {home.replace(" ", "\n").encode() for home in homes} <= found and b"lamella" not in data


# ---- hostile files ---------------------------------------------------------------------------------------------------


def native(kind, state=(), members=True):
    """Makes a file of Lamella with a module of any class and state."""
    file = saved([])
    with zipfile.ZipFile(file) as z:
        index = json.loads(z.read("index.json"))
    own = [["training", True], *([name, {}] for name in ("_parameters", "_buffers", "_modules"))] if members else []
    index["object"] = [{"$module": kind, "state": [*own, *state]}]
    text = json.dumps(index).encode()

    from lamella.serialization.archive import ArchiveWriter

    out = io.BytesIO()
    writer = ArchiveWriter(out)
    writer.add("index.json", text)
    writer.finish()
    out.seek(0)
    return out


def of_torch(data):
    """Makes a file of torch around a pickle."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as z:
        for name, content in {"data.pkl": data, "byteorder": b"little", "version": b"3\n"}.items():
            z.writestr(f"archive/{name}", content)
    file.seek(0)
    return file


def pickled(module, name, end=b")\x81}b."):
    text = lambda x: b"X" + struct.pack("<I", len(x.encode())) + x.encode()  # noqa: E731
    return of_torch(b"\x80\x04" + text(module) + text(name) + b"\x93" + end)


NAMES = [
    ("os", "system"),
    ("posix", "system"),
    ("subprocess", "Popen"),
    ("builtins", "eval"),
    ("builtins", "object"),
    ("pathlib", "os.system"),  # a path that leads into another module
    (__name__, "nn.Linear"),
    (__name__, "Net.forward"),
    (__name__, "Net.__init__"),
    (__name__, "NoModule"),
    (__name__, "saved"),
    (__name__, "Net.Gone"),
    ("lamella.nn.functional", "Tensor"),
    ("lamella.nn", "functional"),
    ("no_such_module", "Net"),
    ("../evil", "Net"),
    (".evil", "Net"),
    ("", "Net"),
    (__name__, ""),
    (__name__, "."),
]


@pytest.mark.parametrize("module, name", NAMES)
def test_a_name_that_is_no_class_of_modules_is_refused(module, name):
    for file in (native([module, name]), pickled(module, name)):
        for value in (True, False):
            file.seek(0)
            with pytest.raises(CheckpointError, match=f"{re.escape(name)}|damaged"):
                lamella.load(file, weights_only=value)
    found = sys.modules.get(module)
    found = getattr(found, name, None) if name else None
    if found is not None and not isinstance(found, types.ModuleType):
        with serialization.safe_globals([(found, f"{module}.{name}")]), pytest.raises(CheckpointError):
            lamella.load(native([module, name]))


def test_a_name_puts_no_code_into_the_line_of_the_message():
    for name in ("x]);import os#", "Net\nimport os", "Net, print(1)"):
        for file in (native([__name__, name]), native([name, "Net"])):
            with pytest.raises(CheckpointError, match=r"allow it by lamella\.serialization\.add_safe_globals\(\[\]\)$"):
                lamella.load(file)


@pytest.mark.parametrize("kind", [1, [], ["lamella.nn"], [1, 2], [["lamella.nn"], "Linear"], None, "lamella.nn.Linear"])
def test_a_name_that_is_no_pair_of_texts_is_damage(kind):
    for value in (True, False):
        with pytest.raises(CheckpointError):
            lamella.load(native(kind), weights_only=value)


def test_of_a_class_only_new_and_the_state_are_used():
    for form in ("lamella", "torch"):
        file = saved(Recorder(), form)
        calls.clear()
        assert lamella.load(file, weights_only=False).kept == 1 and calls == [("__new__", ())]
    for end in (b")R.", b"K\1\x85R.", b")R}b."):  # pickles that call the class itself
        for allowed in ([], [Recorder]):
            calls.clear()
            with serialization.safe_globals(allowed), pytest.raises(CheckpointError, match="Recorder|calls"):
                lamella.load(pickled(__name__, "Recorder", end))
            with serialization.safe_globals(allowed), pytest.raises(CheckpointError, match="calls"):
                lamella.load(pickled(__name__, "Recorder", end), weights_only=False)
            assert calls == []
    with pytest.raises(CheckpointError):  # a function that a module may hold is not called either
        lamella.load(pickled("torch.nn.functional", "relu", b"K\1\x85R."), weights_only=False)


@pytest.mark.parametrize(
    "state, words",
    [
        ([["__class__", 1]], "__class__"),
        ([["__dict__", {}]], "__dict__"),
        ([["_parameters", {"weight": 1}]], "has a int in _parameters"),
        ([["_parameters", [1]]], "has no dict _parameters"),
        ([["_modules", {"a": {"$functional": "relu"}}]], "in _modules"),
        ([["training", 1]], "training"),
        ([["_forward_hooks", 5]], "has no OrderedDict _forward_hooks"),
        ([["_non_persistent_buffers_set", {}]], "has no set _non_persistent_buffers_set"),
        ([["f", {"$functional": "system"}]], "no function 'system'"),
        ([["f", {"$functional": "Tensor"}]], "no function 'Tensor'"),
        ([["f", {"$functional": "__builtins__"}]], "no function '__builtins__'"),
        ([["f", {"$functional": ["relu"]}]], "damaged"),
        ([[1, 2]], "1"),
    ],
)
def test_a_hostile_state_is_refused(state, words):
    with serialization.safe_globals([nn.Identity]), pytest.raises(CheckpointError, match=words):
        lamella.load(native(["lamella.nn", "Identity"], state))


def test_a_module_without_members_is_refused():
    with serialization.safe_globals([nn.Identity]):
        with pytest.raises(CheckpointError, match="no dict _parameters"):
            lamella.load(native(["lamella.nn", "Identity"], members=False))
        with pytest.raises(CheckpointError, match="no dict _parameters"):
            lamella.load(pickled("torch.nn", "Identity"))


def test_a_class_that_is_gone_can_be_replaced(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    text = "from lamella import nn\nclass Old(nn.Identity):\n    pass\n"
    (tmp_path / "shop_of_old.py").write_text(text)
    import shop_of_old

    files = [saved({"a": shop_of_old.Old()}, form) for form in ("lamella", "torch")]
    del sys.modules["shop_of_old"]
    (tmp_path / "shop_of_old.py").write_text("class Other: pass\n")
    for file in files:
        with pytest.raises(CheckpointError, match=r"shop_of_old\.Old at obj\['a'\], which is no class of shop") as seen:
            with contextlib.suppress(KeyError):
                del sys.modules["shop_of_old"]
            lamella.load(file, weights_only=False)
        line = re.search(r"lamella\.serialization\.add_safe_globals\(.*\)", str(seen.value))[0]
        with serialization.safe_globals([]):
            exec(line, {"lamella": lamella, "TheClass": nn.ReLU})
            file.seek(0)
            assert type(lamella.load(file)["a"]) is nn.ReLU
    (tmp_path / "shop_of_old.py").write_text("raise OSError('no disk')\n")
    del sys.modules["shop_of_old"]
    for file in files:
        file.seek(0)
        with pytest.raises(CheckpointError, match="cannot be imported: OSError: no disk") as seen:
            lamella.load(file, weights_only=False)
        assert isinstance(seen.value.__cause__, OSError)
