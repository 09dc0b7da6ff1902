"""Checks that torch can read Lamella's files, in two runs, since one environment need not have both.

``python check_torch_files.py write FOLDER`` with Lamella, then ``python check_torch_files.py read FOLDER`` with torch.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent / "torch_files"
NAMES = ("shared", "numbers", "training", "parameters")


def write(folder):
    """Reads torch's files and writes each again."""
    import lamella

    for name in NAMES:
        lamella.save(lamella.load(HERE / f"{name}.pt"), folder / f"{name}.pt", format="torch")
    base = lamella.arange(4.0)
    mixed = [base, base.view(dtype=lamella.int32), lamella.Size([2]), {1, 2}, b"\xff", 1j, bytearray(b"a"), 2**70]
    lamella.save(mixed, folder / "mixed.pt", format="torch")
    modules = lamella.load(HERE / "modules.pt", weights_only=False)
    lamella.save(modules, folder / "modules.pt", format="torch")


def same(a, b):
    """Returns whether two values agree in types, values, gradients and strides."""
    import torch

    if isinstance(a, torch.Tensor):
        alike = (type(a), a.dtype, a.shape, a.stride(), a.requires_grad, a.device) == (
            (type(b), b.dtype, b.shape, b.stride(), b.requires_grad, b.device)
        )
        return alike and vars(a) == vars(b) and (a.is_meta or torch.equal(*((x.to(torch.complex128)) for x in (a, b))))
    if isinstance(a, dict):
        attributes = getattr(a, "__dict__", None) == getattr(b, "__dict__", None)
        return type(a) is type(b) and list(a) == list(b) and all(same(a[k], b[k]) for k in a) and attributes
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b


def read(folder):
    """Compares the files with the originals; needs torch."""
    import torch

    for name in NAMES:
        ours = torch.load(folder / f"{name}.pt", weights_only=True)
        theirs = torch.load(HERE / f"{name}.pt", weights_only=True)
        assert same(ours, theirs), name
    shared = torch.load(folder / "shared.pt", weights_only=True)
    shared["base"][2] = 9
    assert shared["tail"][0] == 9 and shared["turned"][2, 0] == 9 and shared["same"] is shared["base"]
    mixed = torch.load(folder / "mixed.pt", weights_only=True)
    assert torch.equal(mixed[0].view(torch.int32), mixed[1]) and mixed[0].data_ptr() == mixed[1].data_ptr()
    assert mixed[2:] == [torch.Size([2]), {1, 2}, b"\xff", 1j, bytearray(b"a"), 2**70]
    modules = torch.load(folder / "modules.pt", weights_only=False)
    model, x = modules["model"], modules["x"]
    made = model["lstm"](x)[0], model["encoder"](x), model["tail"](x)
    for one, result in zip(made, modules["results"], strict=True):
        assert torch.allclose(one, result) and model["again"] is model["tail"]
    print("torch", torch.__version__, "reads all of it")


if __name__ == "__main__":
    {"write": write, "read": read}[sys.argv[1]](Path(sys.argv[2]))
