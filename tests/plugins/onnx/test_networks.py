"""Whole networks: onnxruntime gives the module's results, for the example and at other sizes of dynamic axes."""

import lamella
import pytest
from exported import check, types
from lamella import nn
from lamella.nn import functional as F


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5, padding=2), nn.Conv2d(6, 16, 5)
        self.fc1, self.fc2 = nn.Linear(400, 32), nn.Linear(32, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.avg_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc2(F.relu(self.fc1(x.flatten(1))))


class Block(nn.Module):
    def __init__(self, before, after, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(before, after, 3, stride, 1, bias=False), nn.BatchNorm2d(after)
        self.conv2, self.bn2 = nn.Conv2d(after, after, 3, 1, 1, bias=False), nn.BatchNorm2d(after)
        self.down = None
        if stride > 1:
            self.down = nn.Sequential(nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after))

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)), inplace=True)))
        y += x if self.down is None else self.down(x)
        return F.relu(y, inplace=True)


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 7, 2, 3), nn.BatchNorm2d(8), nn.ReLU(True), nn.MaxPool2d(3, 2, 1))
        self.layers = nn.Sequential(Block(8, 8, 1), Block(8, 16, 2), Block(16, 32, 2))
        self.pool, self.fc = nn.AdaptiveAvgPool2d(1), nn.Linear(32, 5)

    def forward(self, x):
        return self.fc(lamella.flatten(self.pool(self.layers(self.stem(x))), 1))


class UNet(nn.Module):
    """Resizes to the sizes of the skipped tensor, as modules do that take any size."""

    def __init__(self, mode):
        super().__init__()
        self.a, self.b = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1)
        self.c, self.mode = nn.Conv2d(16, 2, 3, padding=1), mode

    def forward(self, x):
        a = F.relu(self.a(x))
        b = F.relu(self.b(F.max_pool2d(a, 2)))
        return self.c(lamella.cat([a, F.interpolate(b, size=a.shape[2:], mode=self.mode)], 1))


class EvenUNet(UNet):
    """Doubles the sizes: it takes even ones alone."""

    def forward(self, x):
        a = F.relu(self.a(x))
        b = F.relu(self.b(F.max_pool2d(a, 2)))
        return self.c(lamella.cat([a, F.interpolate(b, scale_factor=2, mode=self.mode)], 1))


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(20, 6)
        self.lstm = nn.LSTM(6, 5, 2, bidirectional=True, batch_first=True)
        self.tags = nn.Linear(10, 3)

    def forward(self, x):
        return self.tags(self.lstm(self.words(x))[0]).log_softmax(-1)


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(1, 4, 3, 2, 1), nn.GELU(), nn.GroupNorm(2, 4), nn.Conv2d(4, 8, 3, 2, 1))
        self.up = nn.Sequential(
            nn.ConvTranspose2d(8, 4, 3, 2, 1, 1), nn.LeakyReLU(), nn.InstanceNorm2d(4), nn.ConvTranspose2d(4, 1, 2, 2)
        )

    def forward(self, x):
        return lamella.sigmoid(self.up(self.down(x)))


class Decoder(nn.Module):
    """Attention with a mask that is made for the length, positions that are cut to it, and the last step's words."""

    def __init__(self):
        super().__init__()
        self.words, self.positions = nn.Embedding(30, 16), nn.Parameter(lamella.randn(1, 12, 16))
        self.attention, self.out = nn.MultiheadAttention(16, 4, batch_first=True), nn.Linear(16, 30)

    def forward(self, x):
        _, length = x.shape
        h = self.words(x) + self.positions[:, :length]
        mask = lamella.full((length, length), float("-inf")).triu(1)
        y, _ = self.attention(h, h, h, attn_mask=mask, need_weights=False)
        y = F.scaled_dot_product_attention(y, y, y, is_causal=True)
        return self.out(h + y)[:, -1]


def words(*size):
    return lamella.randint(0, 20, size)


def encoder():
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2)


image = {0: "batch", 2: "height", 3: "width"}
text = {0: "batch", 1: "length"}
r = lamella.randn
# By title: the network, an example, the name of the input, its dynamic axes, and tensors of other sizes.
NETWORKS = {
    "mlp": (lambda: nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.LayerNorm(8), nn.Linear(8, 3)), lambda: r(2, 4),
            "input", {0: "batch"}, lambda: [r(7, 4), r(1, 4)]),
    "lenet": (LeNet, lambda: r(1, 1, 28, 28), "x", {0: "batch"}, lambda: [r(5, 1, 28, 28)]),
    "resnet": (ResNet, lambda: r(1, 3, 32, 32), "x", image, lambda: [r(5, 3, 47, 63), r(1, 3, 32, 33)]),
    "unet bilinear": (lambda: UNet("bilinear"), lambda: r(1, 3, 8, 8), "x", image, lambda: [r(2, 3, 9, 13)]),
    "unet nearest": (lambda: UNet("nearest"), lambda: r(1, 3, 8, 6), "x", image, lambda: [r(2, 3, 9, 13)]),
    "unet of even sizes": (lambda: EvenUNet("nearest"), lambda: r(1, 3, 8, 8), "x", image, lambda: [r(2, 3, 10, 14)]),
    "encoder": (encoder, lambda: r(2, 5, 8), "src", text, lambda: [r(3, 7, 8), r(1, 2, 8)]),
    "decoder": (Decoder, lambda: words(1, 6), "x", text, lambda: [words(3, 9), words(2, 12)]),
    "tagger": (Tagger, lambda: words(2, 5), "x", text, lambda: [words(3, 8), words(1, 1)]),
    "autoencoder": (Autoencoder, lambda: r(1, 1, 8, 8), "x", {0: "batch"}, lambda: [r(4, 1, 8, 8)]),
}  # fmt: skip


@pytest.fixture(params=NETWORKS.values(), ids=NETWORKS)
def network(request):
    lamella.manual_seed(0)
    make, example, *rest, others = request.param
    return make(), example(), *rest, [(t,) for t in others()]


@pytest.mark.parametrize("opset", [18, 23])
def test_a_network_at_the_sizes_of_its_example(network, opset):
    model, x, *_ = network
    made = check(model, x, opset_version=opset)
    assert made.opset_import[0].version == opset and set(made.graph.initializer[0].dims)


def test_a_network_at_other_sizes(network):
    model, x, name, axes, others = network
    made = check(model, x, others=others, dynamic_axes={name: axes})
    dims = made.graph.input[0].type.tensor_type.shape.dim
    assert {i: d.dim_param for i, d in enumerate(dims) if d.dim_param} == axes


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("kind, layers", [(nn.LSTM, 2), (nn.GRU, 2), (nn.GRU, 1), (nn.RNN, 1)])
def test_recurrent_layers_with_states(kind, layers, bidirectional):
    model = kind(4, 5, layers, bidirectional=bidirectional)

    def state(batch):
        part = r(layers * (1 + bidirectional), batch, 5)
        return (part, r(*part.shape)) if kind is nn.LSTM else part

    names = ["h_0", "h_1"] if kind is nn.LSTM else ["h"]
    axes = {"x": {0: "length", 1: "batch"}, **{name: {1: "batch"} for name in names}}
    options = {"input_names": ["x", *names], "dynamic_axes": axes}
    made = check(model, r(6, 2, 4), state(2), others=[(r(9, 3, 4), state(3))], **options)
    assert types(made).count(kind.__name__) == layers


def test_a_projected_lstm_is_made_of_its_parts():
    made = check(nn.LSTM(4, 5, proj_size=3), r(6, 2, 4), dynamic_axes={"input": {1: "batch"}}, others=[(r(6, 3, 4),)])
    assert "LSTM" not in types(made) and types(made).count("Tanh") == 12


def test_a_weight_of_a_parametrization_is_computed_in_the_graph():
    model = nn.utils.parametrizations.weight_norm(nn.Linear(3, 2))
    made = check(model, r(4, 3))
    assert {i.name for i in made.graph.initializer} >= {"bias", "parametrizations.weight.original0"}
