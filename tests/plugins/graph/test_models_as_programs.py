"""The models of examples/models, and transformers, as programs: scripted, recorded, saved; each gives eager's bits."""

import copy
import importlib.util
import io
import sys
import warnings
from pathlib import Path

import lamella
import pytest
from lamella import jit, nn

FOLDER = Path(__file__).resolve().parents[3] / "examples" / "models"
r = lamella.randn


def words(*shape):
    return lamella.arange(int(lamella.tensor(shape).prod())).reshape(shape) % 7


MODELS = {
    "resnet18": ("ResNet18", (), lambda: (r(1, 3, 16, 16),)),
    "gpt": ("GPT", (), lambda: (words(2, 8),)),
    "lstm_lm": ("LanguageModel", (9,), lambda: (words(2, 8),)),
    "translate": ("Translator", (), lambda: (words(2, 5), words(2, 4))),
    "vae": ("VAE", (), lambda: (r(2, 1, 12, 12),)),
    "dcgan": ("Generator", (), lambda: (r(2, 16, 1, 1),)),
}


@pytest.fixture
def load(monkeypatch):
    """Returns a function that imports a file of examples/models, some of which import torch."""
    for name in ("torch", "torch.nn", "torch.nn.functional"):
        monkeypatch.setitem(sys.modules, name, eval(name.replace("torch", "lamella")))
    monkeypatch.syspath_prepend(FOLDER)

    def imported(name):
        spec = importlib.util.spec_from_file_location(f"model_example_{name}", FOLDER / f"{name}.py")
        made = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, spec.name, made)
        spec.loader.exec_module(made)
        return made

    return imported


def bits(result):
    """Returns the tensors of a result as bytes."""
    if isinstance(result, lamella.Tensor):
        return [result.detach().numpy().tobytes()]
    return [b for part in result for b in bits(part)]


def loaded(program, training):
    file = io.BytesIO()
    program.save(file)
    file.seek(0)
    return jit.load(file).train(training)


def compare(net, inputs, make):
    """Compares a module with its program, and with the one that is loaded from a file."""
    for training in (False, True):
        net.train(training)
        with warnings.catch_warnings():
            warnings.filterwarnings("error", category=jit.TracerWarning)
            warnings.filterwarnings("ignore", "trace: .* was recorded in training mode")
            program = make(net, inputs)
        for each in (program, loaded(program, training)):
            lamella.manual_seed(3)
            wanted = bits(copy.deepcopy(net)(*inputs))
            lamella.manual_seed(3)
            assert bits(copy.deepcopy(each)(*inputs)) == wanted


MAKERS = [lambda net, inputs: jit.script(net), lambda net, inputs: jit.trace(net, inputs, check_trace=not net.training)]


@pytest.mark.parametrize("make", MAKERS, ids=["script", "trace"])
@pytest.mark.parametrize("name", MODELS)
def test_a_model_of_the_examples(name, make, load):
    kind, arguments, inputs = MODELS[name]
    lamella.manual_seed(0)
    net = getattr(load(name), kind)(*arguments)
    if name == "lstm_lm" and make is MAKERS[0]:
        with pytest.raises(jit.ScriptError, match="the argument 'hx' of LSTM.forward"):
            jit.script(net)  # its parameter 'state' has no annotation, so that it would be a tensor
        return
    compare(net, inputs(), make)


PADDING = lamella.tensor([[0, 0, 0, 1, 1], [0, 0, 0, 0, 1]]).bool()
GAP = lamella.tensor([[0, 1, 0, 1, 1], [0, 0, 0, 0, 1]]).bool()
SIZES = {"dim_feedforward": 16, "dropout": 0.0, "batch_first": True}


def masked(kind, arguments):
    return {"encoder": (r(2, 5, 8), None, arguments), "decoder": (r(2, 5, 8), r(2, 5, 8), arguments)}[kind]


@pytest.mark.parametrize("make", MAKERS, ids=["script", "trace"])
@pytest.mark.parametrize("grad", [True, False], ids=["grad", "no_grad"])
@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        ("encoder", None),
        ("encoder", PADDING),
        ("encoder", GAP),
        ("decoder", nn.Transformer.generate_square_subsequent_mask(5)),
        ("decoder", lamella.zeros(5, 5)),
    ],
    ids=["encoder", "padded encoder", "encoder with a gap", "causal decoder", "decoder"],
)
def test_transformers(kind, arguments, grad, make):
    lamella.manual_seed(0)
    layer = {"encoder": nn.TransformerEncoderLayer, "decoder": nn.TransformerDecoderLayer}[kind](8, 2, **SIZES)
    net = {"encoder": nn.TransformerEncoder, "decoder": nn.TransformerDecoder}[kind](layer, 2)
    with lamella.set_grad_enabled(grad):
        compare(net, masked(kind, arguments), make)


def test_a_recorded_transformer_takes_other_masks():
    """A recording has no branch on the elements of a mask."""
    lamella.manual_seed(0)
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, **SIZES), 2).eval()
    decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, **SIZES), 1).eval()
    x, causal = r(2, 5, 8), nn.Transformer.generate_square_subsequent_mask(5)
    with lamella.no_grad():
        padded, attends = jit.trace(encoder, (x, None, PADDING)), jit.trace(decoder, (x, x, causal))
        for mask in (PADDING, GAP, ~PADDING | GAP.logical_not()):
            assert lamella.equal(padded(x, None, mask), encoder(x, None, mask))
        for mask in (causal, lamella.zeros(5, 5), causal.clone().fill_diagonal_(1.0)):
            assert lamella.allclose(attends(x, x, mask), decoder(x, x, mask), atol=1e-6)


def test_a_recorded_loss_does_not_check_its_variance():
    """Eager calls check that the variance is not negative, which a graph cannot."""
    x, y = lamella.tensor([0.5, -1.0]), lamella.tensor([1.0, 0.25])
    loss = nn.GaussianNLLLoss()
    traced = jit.trace(loss, (x, y, y))
    assert lamella.equal(traced(x, y, y * 2), loss(x, y, y * 2))
    with pytest.raises(ValueError, match="argument 'var' must not be negative"):
        loss(x, y, -y)
