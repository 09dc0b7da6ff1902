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


MORE = """
import torch
from torch import nn
from torch.ao.quantization import *
from torch.ao.quantization import quantize
from torch.quantization.observer import MinMaxObserver
from torch.nn.quantized import FloatFunctional
import torch.ao.nn.quantized

assert FloatFunctional is torch.ao.nn.quantized.FloatFunctional and QuantWrapper and prepare
made = MinMaxObserver.with_args(dtype=torch.quint8).with_args(reduce_range=True)()
assert (made.dtype, made.quant_max) == ("uint8", 127)


def run(model, x):
    model(x)


torch.manual_seed(0)
x = torch.randn(9, 8)
net = QuantWrapper(nn.Linear(8, 4)).eval()
net.qconfig = get_default_qconfig("x86")
static = quantize(net, run, (x,))
assert (static(x) - net(x)).abs().max() < 0.1
bags = quantize_dynamic(nn.Sequential(nn.EmbeddingBag(10, 4)), {nn.EmbeddingBag})
assert bags[0].weight.is_quantized
chosen = quantize_dynamic(nn.Sequential(nn.Linear(8, 4), nn.Linear(4, 2)), {"0": default_dynamic_qconfig, "1": None})
assert chosen[0].weight.is_quantized and type(chosen[1]) is nn.Linear
fake = torch.ao.quantization.FakeQuantize()
fake(x)
fake.apply(disable_observer).apply(disable_fake_quant)
assert fake(x * 9).equal(x * 9)
fake.apply(enable_fake_quant)
assert not fake(x).equal(x)
quantizer = torch.quantization.quantizer
model = quantizer.quantize(nn.Sequential(nn.Linear(8, 4)), run, (x,))
model.save("mymodule.pt")
fresh = quantizer.quantize(nn.Sequential(nn.Linear(8, 4)), run, (x * 2,))
fresh.load_state_dict(torch.load("mymodule.pt"))
assert fresh(x).equal(model(x))
print("right")
"""


def test_more_of_torchs_paths(tmp_path):
    """Names by `*`, the one-call workflow, observers with more options, and the talk's quantizer."""
    (tmp_path / "program.py").write_text(MORE)
    done = subprocess.run(
        [sys.executable, "-m", "lamella.cli", "run", "program.py"], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.stdout == "right\n", done.stderr


def test_a_qconfig_that_dynamic_layers_do_not_take():
    linear = lamella.nn.Sequential(lamella.nn.Linear(4, 4))
    with pytest.raises(NotImplementedError, match="quantize_dynamic: argument 'qconfig_spec'.*default_dynamic_qconfig"):
        lamella.quantization.quantize_dynamic(linear, {lamella.nn.Linear: lamella.quantization.default_qconfig})
