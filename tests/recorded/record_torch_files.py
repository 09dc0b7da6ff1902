"""Writes torch_files/*.pt with torch; tests then read them without it. Run it in an environment with torch."""

import collections
from pathlib import Path

import torch
from torch import nn

HERE = Path(__file__).parent / "torch_files"
DTYPES = (
    "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128 "
    "float8_e4m3fn float8_e5m2"
).split()


def contents():
    """Returns name and object of each file."""
    base = torch.arange(6.0)
    shared = {"base": base, "tail": base[2:], "turned": base.view(2, 3).t(), "same": base}
    numbers = {name: torch.tensor([0, 1, 1]).to(getattr(torch, name)) for name in DTYPES}
    numbers["conjugate"], numbers["empty"] = torch.tensor([1j]).conj(), torch.ones(0, 3)
    plain = {
        "tuple": (1, -1, 2**40, 1.5, True, None, "text", b"bytes\xff", 1 + 2j),
        "set": {1, 2},
        "counter": collections.Counter("aab"),
        "default": collections.defaultdict(list, a=[1]),
        "size": torch.Size([1, 2]),
        "device": torch.device("cpu"),
        "dtype": torch.float16,
        3: bytearray(b"ab"),
    }
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.tensor([[0.0, 1.0], [2.0, 3.0]])).pow(2).sum().backward()
    optimizer.step()
    marked = nn.Parameter(torch.ones(2), requires_grad=False)
    marked.tag = "marked"
    tensors = [nn.Parameter(torch.ones(2)), marked, nn.Buffer(torch.zeros(1)), torch.ones(1, requires_grad=True)]
    training = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3}
    torch.manual_seed(1)
    layers = [nn.LSTM(4, 4), nn.TransformerEncoderLayer(4, 2, 4), nn.Sequential(nn.Linear(4, 4), nn.GELU("tanh"))]
    whole = nn.ModuleDict({"lstm": layers[0], "encoder": layers[1], "tail": layers[2], "again": layers[2]}).eval()
    x = torch.linspace(-1, 1, 24).view(3, 2, 4)
    with torch.no_grad():
        results = [whole["lstm"](x)[0], whole["encoder"](x), whole["tail"](x)]
    numpy = {"scalar": base.numpy().max(), "array": base.view(2, 3).numpy()}
    return {
        "shared": shared,
        "numbers": numbers,
        "plain": plain,
        "training": training,
        "parameters": [*tensors, torch.ones(2, device="meta")],
        "numpy": numpy,
        "modules": {"model": whole, "x": x, "results": results},
    }


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    for name, content in contents().items():
        torch.save(content, HERE / f"{name}.pt")
    torch.save([base := torch.arange(2.0), base], HERE / "legacy.pt", _use_new_zipfile_serialization=False)
