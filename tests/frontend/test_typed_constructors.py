"""Torch's old constructors, and typed storages."""

import subprocess
import sys

import lamella
import numpy as np
import pytest
from lamella import nn

TYPES = {
    "Float": "float32",
    "Double": "float64",
    "Half": "float16",
    "BFloat16": "bfloat16",
    "Byte": "uint8",
    "Char": "int8",
    "Short": "int16",
    "Int": "int32",
    "Long": "int64",
    "Bool": "bool",
}


@pytest.mark.parametrize("word", TYPES)
def test_typed_constructors(word):
    kind, dtype = getattr(lamella, f"{word}Tensor"), getattr(lamella, TYPES[word])
    assert kind(2, 3).shape == (2, 3) and kind(lamella.Size([2, 1])).shape == (2, 1) and kind().shape == (0,)
    for data in ([0, 1], (0, 1), range(2), np.arange(2)):
        assert kind(data).dtype is dtype and kind(data).tolist() == [0, 1]
    assert kind(np.int64(3)).shape == (3,) and kind(data=[1]).tolist() == [1] and kind([[]]).shape == (1, 0)
    made = kind([1])
    assert isinstance(made, kind) and isinstance(made, lamella.Tensor) and not isinstance(3, kind)
    assert kind(made).data_ptr() == made.data_ptr()
    other = lamella.LongTensor if word != "Long" else lamella.FloatTensor
    assert not isinstance(made, other)
    with pytest.raises(TypeError, match="use .to"):
        other(made)
    assert lamella.ones(1, dtype=lamella.int32).type(kind).dtype is dtype
    for home in ("torch", "lamella"):
        assert lamella.ones(1).type(f"{home}.{word}Tensor").dtype is dtype
    assert made.type() == f"lamella.{word}Tensor" and kind.dtype is dtype and not kind.is_cuda


def test_fractions_are_cut_and_wrong_arguments_named():
    assert lamella.LongTensor([1.7, -1.7]).tolist() == [1, -1]
    assert isinstance(nn.Parameter(lamella.ones(1)), lamella.FloatTensor)
    for wrong in (2.5, "a", None, object()):
        with pytest.raises(TypeError, match="FloatTensor"):
            lamella.FloatTensor(wrong)
    with pytest.raises(TypeError, match="2 arguments"):
        lamella.FloatTensor([1], 2)


def test_the_constructor_of_tensors():
    assert lamella.Tensor(2, 3).shape == (2, 3) and lamella.Tensor(2, 3).dtype is lamella.float32
    assert lamella.Tensor([1, 2]).tolist() == [1, 2] and lamella.Tensor([True]).dtype is lamella.float32
    assert lamella.Tensor().shape == (0,) and lamella.Tensor(lamella.Size([2])).shape == (2,)
    given = lamella.arange(2)
    assert lamella.Tensor(given).dtype is lamella.int64 and lamella.Tensor(given).data_ptr() == given.data_ptr()
    assert lamella.Tensor(2, device="meta").device.type == "meta"
    for wrong in (2.0, "a"):
        with pytest.raises(TypeError, match="Tensor"):
            lamella.Tensor(wrong)

    class Mine(lamella.Tensor):
        pass

    assert type(Mine([1.0])) is Mine and type(Mine(2, 3)) is Mine and Mine(2, 3).shape == (2, 3)
    assert lamella.ones(1).double().type(lamella.Tensor).dtype is lamella.float32


def test_default_type():
    try:
        lamella.set_default_tensor_type("torch.DoubleTensor")
        assert lamella.ones(1).dtype is lamella.Tensor([1]).dtype is lamella.float64
        lamella.set_default_tensor_type(lamella.FloatTensor)
        assert lamella.get_default_dtype() is lamella.float32
        for wrong in (lamella.LongTensor, "torch.Long", lamella.float32, lamella.cuda.FloatTensor):
            with pytest.raises(TypeError, match="set_default_tensor_type"):
                lamella.set_default_tensor_type(wrong)
    finally:
        lamella.set_default_dtype(lamella.float32)


def test_typed_storages():
    t = lamella.arange(4.0)
    s = t[1:].storage()
    assert list(s) == [0, 1, 2, 3] and s.size() == 4 and s.element_size() == 4 and s.nbytes() == 16
    s[1] = 9
    assert t[1].item() == 9 and s[1:3].tolist() == [9, 2] and s.untyped() is t.untyped_storage()
    assert s.clone().fill_(5).tolist() == [5] * 4 and t[0].item() == 0
    assert isinstance(s, lamella.FloatStorage) and not isinstance(s, lamella.LongStorage) and lamella.is_storage(s)
    made = lamella.LongStorage([1, 2])
    assert isinstance(made, lamella.TypedStorage) and len(lamella.FloatStorage(3)) == 3
    view = lamella.LongTensor(made)
    assert view.tolist() == [1, 2] and view.data_ptr() == made.data_ptr()
    assert made.copy_(lamella.LongStorage([3, 4])).tolist() == [3, 4] == view.tolist()


def test_a_torch_program_sees_torchs_names(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import torch\nfrom torch.cuda.amp import GradScaler\nfrom torch.amp import autocast\n"
        "print(torch.ones(1).type(), torch.ones(1).type(torch.LongTensor).type())\n"
        "assert torch.cuda.OutOfMemoryError is torch.OutOfMemoryError\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "lamella", "run", str(program)], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "torch.FloatTensor torch.LongTensor\n", done.stderr
