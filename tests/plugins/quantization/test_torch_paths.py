"""The eager workflow under torch's paths, as programs for torch write it, run by `lamella run`."""

import subprocess
import sys

import lamella
import pytest

pytestmark = pytest.mark.needs("autograd", "quantization")

PROGRAM = """
import torch
import torch.ao.quantization as tq
import torch.quantization
from torch import nn
from torch.ao.quantization import DeQuantStub, QuantStub, get_default_qconfig, prepare, convert
from torch.ao.quantization.fake_quantize import FakeQuantize
from torch.ao.quantization.observer import MinMaxObserver
from torch.ao.quantization.qconfig import QConfig
from torch.ao.quantization.stubs import QuantWrapper

torch.backends.quantized.engine = "fbgemm"
assert torch.backends.quantized.engine in torch.backends.quantized.supported_engines


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.quant, self.dequant = QuantStub(), DeQuantStub()
        self.conv, self.relu, self.linear = nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Linear(144, 10)

    def forward(self, x):
        return self.dequant(self.linear(self.relu(self.conv(self.quant(x))).flatten(1)))


torch.manual_seed(0)
x = torch.randn(8, 1, 8, 8)
net = Net().eval()
plain = net(x)
fused = tq.fuse_modules(net, [["conv", "relu"]])
fused.qconfig = get_default_qconfig("x86")
prepared = prepare(fused)
prepared(x)
made = convert(prepared)
assert (made(x) - plain).abs().max() < 0.1 * plain.abs().max(), (made(x) - plain).abs().max()
assert made.conv.weight.int_repr().dtype == torch.qint8 == torch.int8

dynamic = torch.quantization.quantize_dynamic(nn.Sequential(nn.Linear(4, 4)), {nn.Linear}, dtype=torch.qint8)
assert dynamic[0].weight.is_quantized
q = torch.quantize_per_tensor(torch.tensor([0.1, 0.3]), 0.1, 5, torch.quint8)
assert q.int_repr().tolist() == [6, 8] and q.qscheme() is torch.per_tensor_affine
for name in ("quantize_fx", "nothing"):
    try:
        getattr(torch.ao.quantization, name)
    except AttributeError as error:
        assert name in str(error)
    else:
        raise AssertionError(name)
print("right")
"""


def test_a_program_for_torch(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-m", "lamella.cli", "run", tmp_path / "program.py"], capture_output=True, text=True
    )
    assert done.stdout == "right\n", done.stderr


def test_the_same_names_in_lamella():
    assert lamella.ao.quantization.prepare is lamella.quantization.prepare
    assert lamella.ao.quantization.observer.MinMaxObserver is lamella.quantization.MinMaxObserver
    assert "convert" in dir(lamella.ao.quantization) and "observer" in dir(lamella.ao.quantization)
    assert (lamella.quint8, lamella.qint8, lamella.qint32) == (lamella.uint8, lamella.int8, lamella.int32)
