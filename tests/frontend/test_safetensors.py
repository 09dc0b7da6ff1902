"""Files of safetensors, read and written through its library and compared with the library's and numpy's own."""

import sys

import lamella
import numpy as np
import pytest
import safetensors.numpy as numpy_face
from lamella.serialization import CheckpointError, load_safetensors, save_safetensors
from lamella.serialization.safetensors import CODES


def test_numpy_reads_what_we_wrote_and_back(tmp_path):
    values = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.array([True, False]), "c": np.array(3)}
    save_safetensors({name: lamella.tensor(x) for name, x in values.items()}, tmp_path / "x", metadata={"by": "us"})
    read = numpy_face.load_file(tmp_path / "x")
    numpy_face.save_file(values, tmp_path / "y")
    ours = load_safetensors(tmp_path / "y")
    for name, x in values.items():
        assert read[name].dtype == ours[name].numpy().dtype == x.dtype and ours[name].shape == x.shape
        assert np.array_equal(read[name], x) and np.array_equal(ours[name].numpy(), x)


@pytest.mark.parametrize("name", CODES.values())
def test_every_dtype(name, tmp_path):
    x = lamella.tensor([[0, 1, 1], [1, 0, 1]]).to(getattr(lamella, name))
    save_safetensors({"x": x.t(), "empty": x[:0], "one": x[0, 1].clone()}, tmp_path / "f")
    with open(tmp_path / "f", "rb") as file:
        found = load_safetensors(file)
    wide = lamella.complex64 if x.is_complex() else lamella.float32
    assert found["x"].dtype is x.dtype and found["x"].to(wide).tolist() == x.t().to(wide).tolist()
    assert found["x"].is_contiguous() and found["empty"].shape == (0, 3) and found["one"].shape == ()


def test_parts_of_one_tensor_that_do_not_overlap(tmp_path):
    x = lamella.arange(12.0).reshape(4, 3)
    save_safetensors({"a": x[2:], "b": x[:2]}, tmp_path / "f")
    found = load_safetensors(tmp_path / "f")
    assert found["a"].tolist() == x[2:].tolist() and found["b"].tolist() == x[:2].tolist()
    for parts in ({"a": x[1:], "b": x[:2]}, {"a": x, "b": x[2:3], "c": x[:1]}):
        with pytest.raises(RuntimeError, match="share memory"):
            save_safetensors(parts, tmp_path / "f")


def test_what_is_refused(tmp_path):
    x = lamella.ones(2)
    with pytest.raises(RuntimeError, match=r"'a' and 'b' share memory.*clone"):
        save_safetensors({"a": x, "b": x[1:]}, tmp_path / "f")
    with pytest.raises(TypeError, match="dict of tensors"):
        save_safetensors([x], tmp_path / "f")
    with pytest.raises(TypeError, match="int: Tensor at 1"):
        save_safetensors({1: x}, tmp_path / "f")
    with pytest.raises(ValueError, match="'z' is of lamella.complex128, which safetensors does not hold; convert it"):
        save_safetensors({"z": x.to(lamella.complex128)}, tmp_path / "f")
    with pytest.raises(ValueError, match="'m' is on device 'meta', so it has no values to write"):
        save_safetensors({"m": x.to("meta")}, tmp_path / "f")
    assert not list(tmp_path.iterdir())
    (tmp_path / "g").write_bytes(b"\xff" * 16)
    with pytest.raises(CheckpointError, match="damaged or no file of safetensors"):
        load_safetensors(tmp_path / "g")
    save_safetensors({"a": x}, tmp_path / "h")
    with pytest.raises(CheckpointError, match="load_safetensors"):
        lamella.load(tmp_path / "h")


def test_without_the_library_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "safetensors", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install lamella\[safetensors\]"):
        save_safetensors({"a": lamella.ones(1)}, tmp_path / "f")


@pytest.mark.needs("quantization")
def test_opaque_tensors_are_what_their_layers_save(tmp_path):
    """Other readers see the codes and the scales; a view has a memory of its own in the file."""
    w = lamella.arange(32.0).reshape(4, 8) - 9
    q = lamella.quantization.quantize(w, "int4", group_size=4)
    save_safetensors({"w": q, "b": w[0]}, tmp_path / "f", metadata={"by": "us"})
    read = numpy_face.load_file(tmp_path / "f")
    assert set(read) == {"w.quantization.codes", "w.quantization.scale", "b"}
    codes = np.stack([read["w.quantization.codes"] & 15, read["w.quantization.codes"] >> 4], 1).reshape(4, 8)
    assert np.array_equal((codes.astype(np.int8) ^ 8) - 8, q.int_repr().numpy())
    assert np.array_equal(read["w.quantization.scale"], lamella.quantization.scheme(q)["scale"].numpy())
    found = load_safetensors(tmp_path / "f")
    assert set(found) == {"w", "b"} and found["w"].dequantize().equal(q.dequantize()) and found["b"].equal(w[0])
    save_safetensors({"part": q[1:3, 4:]}, tmp_path / "f")
    assert load_safetensors(tmp_path / "f")["part"].dequantize().equal(q[1:3, 4:].dequantize())


@pytest.mark.needs("quantization")
def test_opaque_tensors_that_files_cannot_hold(tmp_path, monkeypatch):
    q = lamella.quantize_per_tensor(lamella.ones(3), 0.1, 0, lamella.int8)
    with pytest.raises(ValueError, match="'w.quantization.codes' is the name of a part of an opaque tensor, too"):
        save_safetensors({"w.quantization.codes": lamella.ones(1), "w": q}, tmp_path / "f")
    with pytest.raises(ValueError, match="'metadata': the key 'lamella.parts' is for opaque tensors"):
        save_safetensors({"b": lamella.ones(1)}, tmp_path / "f", metadata={"lamella.parts": ""})
    with pytest.raises(TypeError, match="'metadata' must be a dict of texts or None, got list"):
        save_safetensors({"w": q}, tmp_path / "f", metadata=[])
    with pytest.raises(ValueError, match="'a._extra_state' has a state with a set, which JSON cannot hold"):
        save_safetensors({"a._extra_state": {1}}, tmp_path / "f")
    assert not list(tmp_path.iterdir())
    save_safetensors({"w": q}, tmp_path / "f")
    whole = (tmp_path / "f").read_bytes()
    for old, new in (
        (rb"\"shape\":[3]", rb"\"shape\":[9]"),
        (rb"\"shape\":[3]", rb"\"shape\":[x]"),
        (rb"{\"$tensor\":\"w.quantization.codes\"}", rb"{\"$tensor\":\"w.quantization.other\"}"),
        (b"int8", b"int9"),
        (rb"\"scale\":0.1", rb"\"scale\":0e0"),
    ):
        assert old in whole, old
        (tmp_path / "g").write_bytes(whole.replace(old, new))
        with pytest.raises(CheckpointError, match="the metadata 'lamella.parts' is damaged"):
            load_safetensors(tmp_path / "g")


@pytest.mark.needs("quantization")
def test_a_file_names_the_plugin_that_it_needs(tmp_path, guest):
    save_safetensors({"w": lamella.quantize_per_tensor(lamella.ones(3), 0.1, 0, lamella.int8)}, tmp_path / "f")
    program = """
        import sys, lamella
        with fails(lamella.serialization.CheckpointError, "'w' is opaque", "no loaded plugin has its slots: ['quant"):
            lamella.serialization.load_safetensors(sys.argv[1])
    """
    guest.run(program, str(tmp_path / "f"), LAMELLA_PLUGINS="-quantization")


@pytest.mark.needs("quantization")
def test_parts_that_tensors_share_are_written_once(tmp_path):
    q = lamella.quantization.quantize(lamella.arange(32.0).reshape(4, 8) - 9, "int8", axis=0)
    tensors = {"a": q, "b": q, "c": q.clone(), "d": q[2:]}
    save_safetensors(tensors, tmp_path / "f")
    names = {f"{n}.quantization.codes" for n in "acd"} | {"a.quantization.scale"}
    assert set(numpy_face.load_file(tmp_path / "f")) == names
    found = load_safetensors(tmp_path / "f")
    assert set(found) == set(tensors) and all(found[n].dequantize().equal(t.dequantize()) for n, t in tensors.items())


@pytest.mark.needs("quantization")
@pytest.mark.parametrize("number", [float("nan"), float("inf"), 0.0, -1.0])
def test_scales_that_are_none_are_refused(number, tmp_path):
    q = lamella.quantization.quantize(lamella.ones(2, 4), "int8", axis=0)
    save_safetensors({"w": q}, tmp_path / "f")
    parts = numpy_face.load_file(tmp_path / "f")
    good, bad = parts["w.quantization.scale"].tobytes(), np.full(2, number, np.float32).tobytes()
    (tmp_path / "f").write_bytes((tmp_path / "f").read_bytes().replace(good, bad))
    with pytest.raises(CheckpointError, match="does not fit .* scale"):
        load_safetensors(tmp_path / "f")


@pytest.mark.needs("quantization")
def test_the_state_of_static_layers(tmp_path):
    quantization, nn = lamella.quantization, lamella.nn
    x = lamella.randn(9, 8)
    models = [nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3)) for _ in range(2)]
    for i, model in enumerate(models):
        quantization.quantize_(model, quantization.Static(lambda m, i=i: m(x * (i + 1))))
    save_safetensors(models[0].state_dict(), tmp_path / "f")
    models[1].load_state_dict(load_safetensors(tmp_path / "f"))
    assert models[1](x).equal(models[0](x))
