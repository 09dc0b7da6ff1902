"""Programs that are one layer of torch.nn each; results are rounded, since sums may be taken in another order."""

from typing import Optional, Tuple

ROWS = (torch.arange(12.0) % 7 - 3).view(4, 3) / 2
LINE = (torch.arange(16.0) % 5 - 2).view(1, 2, 8) / 2
IMAGE = (torch.arange(32.0) % 7 - 3).view(1, 2, 4, 4) / 2
VOLUME = (torch.arange(54.0) % 7 - 3).view(1, 2, 3, 3, 3) / 2
SEQUENCE = (torch.arange(24.0) % 5 - 2).view(3, 2, 4) / 4


class Layer(torch.nn.Module):
    """Calls a layer whose parameters have exact values, in evaluation."""

    def __init__(self, layer: torch.nn.Module):
        super().__init__()
        with torch.no_grad():
            for p in layer.parameters():
                p.copy_((torch.arange(p.numel()) % 7 - 3).reshape(p.shape) / 8)
        self.layer = layer
        self.eval()

    def forward(self, x):
        return torch.round(self.layer(x) * 1000)


@cases((ROWS,), (ROWS[0],), (torch.ones(2, 2),))
class Linear(Layer):
    def __init__(self):
        super().__init__(torch.nn.Linear(3, 2))


@cases((torch.ones(2, 3), torch.ones(2, 2)))
class Bilinear(Layer):
    def __init__(self):
        super().__init__(torch.nn.Bilinear(3, 2, 2))

    def forward(self, x, y):
        return torch.round(self.layer(x, y) * 1000)


@cases((LINE,))
class Conv1d(Layer):
    def __init__(self):
        super().__init__(torch.nn.Conv1d(2, 3, 3, padding="same", dilation=2))


@cases((IMAGE,), (IMAGE[0],))
class Conv2d(Layer):
    def __init__(self):
        super().__init__(torch.nn.Conv2d(2, 4, (3, 2), stride=2, padding=1, groups=2, bias=False))


@cases((IMAGE,))
class Conv2dReflected(Layer):
    def __init__(self):
        super().__init__(torch.nn.Conv2d(2, 1, 3, padding=1, padding_mode="reflect"))


@cases((VOLUME,))
class Conv3d(Layer):
    def __init__(self):
        super().__init__(torch.nn.Conv3d(2, 2, 2))


@cases((IMAGE,))
class ConvTranspose2d(Layer):
    def __init__(self):
        super().__init__(torch.nn.ConvTranspose2d(2, 1, 2, stride=2))


@cases((LINE,), (ROWS[:, :2],))
class BatchNorm1d(Layer):
    def __init__(self):
        super().__init__(torch.nn.BatchNorm1d(2))


@cases((IMAGE,), (IMAGE * 2,))
class BatchNorm2dInTraining(Layer):
    def __init__(self):
        super().__init__(torch.nn.BatchNorm2d(2))
        self.train()

    def forward(self, x):
        y = torch.round(self.layer(x) * 1000)
        return y, self.layer.running_mean.mul(1000).round(), self.layer.num_batches_tracked + 0


@cases((IMAGE,))
class InstanceNorm2d(Layer):
    def __init__(self):
        super().__init__(torch.nn.InstanceNorm2d(2, affine=True))


@cases((ROWS,))
class LayerNorm(Layer):
    def __init__(self):
        super().__init__(torch.nn.LayerNorm(3))


@cases((ROWS,))
class RMSNorm(Layer):
    def __init__(self):
        super().__init__(torch.nn.RMSNorm(3, eps=1e-5))


@cases((IMAGE,))
class GroupNorm(Layer):
    def __init__(self):
        super().__init__(torch.nn.GroupNorm(1, 2))


@cases((torch.tensor([[0, 2], [1, 0]]),))
class Embedding(Layer):
    def __init__(self):
        super().__init__(torch.nn.Embedding(3, 2, padding_idx=0))


@cases((torch.tensor([0, 2, 1, 1]), torch.tensor([0, 3])))
class EmbeddingBag(Layer):
    def __init__(self):
        super().__init__(torch.nn.EmbeddingBag(3, 2, mode="sum"))

    def forward(self, i, offsets):
        return torch.round(self.layer(i, offsets) * 1000)


@cases((ROWS,))
class Dropout(Layer):
    def __init__(self):
        super().__init__(torch.nn.Dropout(0.5))


@cases((ROWS,))
class Activations(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(
            [
                torch.nn.ReLU(),
                torch.nn.ReLU6(),
                torch.nn.LeakyReLU(0.1),
                torch.nn.ELU(0.5),
                torch.nn.SELU(),
                torch.nn.CELU(),
                torch.nn.GELU(),
                torch.nn.GELU("tanh"),
                torch.nn.SiLU(),
                torch.nn.Mish(),
                torch.nn.Sigmoid(),
                torch.nn.Tanh(),
                torch.nn.Softplus(),
                torch.nn.Softsign(),
                torch.nn.Hardtanh(-1.0, 0.5),
                torch.nn.Hardswish(),
                torch.nn.Hardsigmoid(),
                torch.nn.LogSigmoid(),
                torch.nn.Tanhshrink(),
                torch.nn.Softshrink(),
                torch.nn.Hardshrink(),
                torch.nn.Threshold(0.1, 20.0),
            ]
        )

    def forward(self, x):
        out = [torch.round(x * 1000)]
        for layer in self.layers:
            out.append(torch.round(layer(x) * 1000))
        return torch.stack(out)


@cases((ROWS,))
class PReLU(Layer):
    def __init__(self):
        super().__init__(torch.nn.PReLU())


@cases((ROWS,))
class Softmax(Layer):
    def __init__(self):
        super().__init__(torch.nn.Sequential(torch.nn.Softmax(dim=1), torch.nn.LogSoftmax(dim=0)))


@cases((IMAGE,))
class MaxPool2d(Layer):
    def __init__(self):
        super().__init__(torch.nn.MaxPool2d(2, stride=1, padding=1))


@cases((IMAGE,))
class MaxPool2dWithIndices(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.pool = torch.nn.MaxPool2d(2, return_indices=True)

    def forward(self, x) -> Tuple[torch.Tensor, torch.Tensor]:
        y, where = self.pool(x)
        return y, where


@cases((IMAGE,))
class AvgPool2d(Layer):
    def __init__(self):
        super().__init__(torch.nn.AvgPool2d(3, stride=2, padding=1, count_include_pad=False))


@cases((IMAGE,))
class AdaptivePools(Layer):
    def __init__(self):
        super().__init__(torch.nn.Sequential(torch.nn.AdaptiveMaxPool2d(3), torch.nn.AdaptiveAvgPool2d((2, 1))))


@cases((LINE,))
class Pools1d(Layer):
    def __init__(self):
        super().__init__(torch.nn.Sequential(torch.nn.MaxPool1d(2), torch.nn.AvgPool1d(2)))


@cases((IMAGE,))
class Shapes(Layer):
    def __init__(self):
        parts = [torch.nn.PixelShuffle(1), torch.nn.ZeroPad2d(1), torch.nn.Flatten(), torch.nn.Unflatten(1, (2, 36))]
        super().__init__(torch.nn.Sequential(*parts))


@cases((IMAGE,))
class Upsample(Layer):
    def __init__(self):
        super().__init__(torch.nn.Upsample(scale_factor=2.0, mode="nearest"))


@cases((SEQUENCE,))
class LSTM(Layer):
    def __init__(self):
        super().__init__(torch.nn.LSTM(4, 3, num_layers=2))

    def forward(self, x):
        y, (h, c) = self.layer(x)
        return torch.round(y * 1000), torch.round(h * 1000), torch.round(c * 1000)


@cases((SEQUENCE, torch.zeros(2, 3, 3)))
class GRUWithState(Layer):
    def __init__(self):
        super().__init__(torch.nn.GRU(4, 3, bidirectional=True, batch_first=True))

    def forward(self, x, h):
        y, h = self.layer(x, h)
        return torch.round(y * 1000), torch.round(h * 1000)


@cases((SEQUENCE,))
class RNN(Layer):
    def __init__(self):
        super().__init__(torch.nn.RNN(4, 3, nonlinearity="relu"))

    def forward(self, x):
        y, h = self.layer(x)
        return torch.round(y * 1000), torch.round(h * 1000)


@cases((SEQUENCE,))
class LSTMCellInALoop(Layer):
    def __init__(self):
        super().__init__(torch.nn.LSTMCell(4, 3))

    def forward(self, x):
        state: Optional[Tuple[torch.Tensor, torch.Tensor]] = None
        out = []
        for step in x:
            state = self.layer(step, state)
            if state is not None:
                out.append(state[0])
        return torch.round(torch.stack(out) * 1000)


@cases((SEQUENCE[0], torch.zeros(2, 3)))
class GRUCell(Layer):
    def __init__(self):
        super().__init__(torch.nn.GRUCell(4, 3))

    def forward(self, x, h):
        return torch.round(self.layer(x, h) * 1000)


@cases((SEQUENCE,))
class MultiheadAttention(Layer):
    def __init__(self):
        super().__init__(torch.nn.MultiheadAttention(4, 2))

    def forward(self, x):
        y, weights = self.layer(x, x, x)
        return torch.round(y * 1000), weights is None


@cases((SEQUENCE,))
class TransformerEncoderLayer(Layer):
    def __init__(self):
        super().__init__(torch.nn.TransformerEncoderLayer(4, 2, 8))


@cases((ROWS, torch.tensor([0, 1, 2, 1])))
class Losses(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.entropy = torch.nn.CrossEntropyLoss()
        self.squares = torch.nn.MSELoss(reduction="sum")
        self.smooth = torch.nn.SmoothL1Loss()

    def forward(self, x, target):
        losses = [self.entropy(x, target), self.squares(x, x * 0), self.smooth(x, x + 2)]
        return torch.round(torch.stack(losses) * 1000)


@cases((ROWS, ROWS.flip(0)))
class Similarity(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cosine = torch.nn.CosineSimilarity(dim=1)
        self.distance = torch.nn.PairwiseDistance()

    def forward(self, x, y):
        return torch.round(self.cosine(x, y) * 1000), torch.round(self.distance(x, y) * 1000)
