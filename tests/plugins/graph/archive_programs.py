"""Programs that record_archives.py saves by torch 2.13, beside those in it. Needs torch."""

import enum
import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import nn


def filled(module: nn.Module) -> nn.Module:
    """Gives the parameters of a module values that are not random, and makes it one for evaluation."""
    with torch.no_grad():
        for p in module.parameters():
            p.copy_((torch.arange(p.numel()) % 7 - 3).reshape(p.shape) / 8)
    return module.eval()


class Kind(enum.Enum):
    """The way in which `Results` scales."""

    LINEAR = 1
    SQUARE = 2


class Point(NamedTuple):
    """A result with names."""

    at: torch.Tensor
    count: int


class Running:
    """A sum that grows."""

    def __init__(self, start: torch.Tensor, count: int = 0):
        self.total = start
        self.count = count

    def add(self, x: torch.Tensor) -> "Running":
        self.total = self.total + x
        self.count += 1
        return self


class Results(nn.Module):
    """Has a named tuple, a dictionary, an enum and an object of a class."""

    kind: Kind

    def __init__(self):
        super().__init__()
        self.kind = Kind.SQUARE

    def forward(self, x) -> Point:
        found = Running(x)
        for i in range(3):
            found = found.add(x * i)
        if self.kind == Kind.SQUARE:
            return Point(found.total**2, found.count)
        return Point(found.total, -1)

    @torch.jit.export
    def named(self, p: Point, extra: float | None = None) -> dict[str, torch.Tensor]:
        out = {"at": p.at, "count": torch.tensor(p.count)}
        if extra is not None:
            out["extra"] = p.at + extra
        return out


class Cell(nn.Module):
    """Has an LSTM cell, whose state is an optional argument."""

    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(3, 2)

    def forward(self, x, state: tuple[torch.Tensor, torch.Tensor] | None = None):
        return self.cell(x, state)


class Normalized(nn.Module):
    """Has a normalization, whose buffers change in training, and a buffer that is not saved in state_dict()."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)
        self.register_buffer("scale", torch.tensor([1.0, 2.0, 0.5]), persistent=False)

    def forward(self, x):
        return self.norm(x) * self.scale


class Block(nn.Module):
    """Has lists of modules and of parameters, a loop over both, and a fork."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3, bias=False)])
        self.by_name = nn.ModuleDict({"act": nn.Tanh(), "out": nn.Sequential(nn.Linear(3, 2), nn.ReLU6())})

    def forward(self, x, flags: list[bool] | None = None):
        branch = torch.jit.fork(self.head, x, 2)
        for i, layer in enumerate(self.layers):
            if flags is None or flags[i]:
                x = x + layer(x)
        for name, module in self.by_name.items():
            if name == "act" or x.shape[0] > 1:
                x = module(x)
        return x, torch.jit.wait(branch)

    @torch.jit.export
    def head(self, x, n: int):
        return self.by_name["out"](x) ** n


class Numbers(nn.Module):
    """Has constants and operators of many kinds: texts, dtypes, devices, masks, writes, losses."""

    def __init__(self):
        super().__init__()
        self.table = torch.tensor([[1, 2], [3, 4]])

    def forward(self, x, mode: str = "mean"):
        y = F.softmax(x, dim=-1, dtype=torch.float64).to(torch.float32)
        mask = x > 0
        y[mask] = -1.0
        y[:, 0] += 0.5
        small = torch.full((2,), -math.inf, dtype=x.dtype, device=x.device)
        if x.dtype == torch.float32 and x.device.type == "cpu":
            small = torch.cat([small, self.table[1].to(x.dtype)])
        loss = F.mse_loss(x, y, reduction="sum") + F.cross_entropy(x, torch.tensor([0, 2]), label_smoothing=0.25)
        text = f"größe {x.size(0)}: {mode}"
        return y, small, loss if mode == "mean" else loss * 2, text, x.numel() // 4 - 7 % 3, 2**3

    @torch.jit.export
    def resized(self, image):
        image = F.pad(image, [1, 1, 0, 0], mode="reflect")
        return F.interpolate(image, scale_factor=2.0, mode="nearest"), image.flip(-1).transpose(-1, -2)

    @torch.jit.export
    def words(self, text: str) -> tuple[list[str], str, list[int]]:
        parts = sorted(text.split(" "))
        assert len(parts) < 5, "too many"
        return parts, "-".join(parts).upper(), [len(p) for p in parts]


class Sizes(nn.Module):
    """Is traced: takes sizes apart, and has an embedding, a recurrent layer, a normalization and a deconvolution."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(5, 4)
        self.rnn = nn.LSTM(4, 2, batch_first=True, bidirectional=True)
        self.norm = nn.LayerNorm(4)
        self.up = nn.ConvTranspose1d(4, 1, 2, stride=2)

    def forward(self, words):
        x = self.norm(self.embed(words))
        y, (h, _) = self.rnn(x)
        flat = y.reshape(y.shape[0] * y.shape[1], -1)
        up = self.up(y.permute(0, 2, 1)).squeeze(1)
        return {"y": flat, "up": up[:, : words.shape[1]], "h": h}, torch.zeros(words.shape[1]), flat.shape[0] * h


class Attention(nn.Module):
    """Has attention, which torch computes in one operator in evaluation."""

    def __init__(self):
        super().__init__()
        self.layer = nn.MultiheadAttention(4, 2, batch_first=True)

    def forward(self, x, mask: torch.Tensor | None = None):
        return self.layer(x, x, x, key_padding_mask=mask)


class Encoder(nn.Module):
    """Has a layer of an encoder, which torch computes in one operator in evaluation."""

    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(4, 2, 4, batch_first=True, norm_first=True)

    def forward(self, x, mask: torch.Tensor | None = None):
        return self.layer(x, src_key_padding_mask=mask)


class Operators(nn.Module):
    """Uses operators that have another form in Lamella."""

    def forward(self, x, image):
        y = torch.sigmoid(x.flip(0) * 2)
        p = torch.sigmoid(x)
        log = torch.log_softmax(x, -1)
        losses = [
            F.l1_loss(x, y),
            F.smooth_l1_loss(x, y, reduction="sum", beta=0.5),
            F.huber_loss(x, y, delta=0.25),
            F.kl_div(log, y, reduction="batchmean"),
            F.nll_loss(log, torch.tensor([1, 2]), weight=torch.tensor([1.0, 2.0, 0.5])),
            F.binary_cross_entropy(p, y),
            F.binary_cross_entropy_with_logits(x, y, pos_weight=torch.tensor([2.0, 1.0, 3.0]), reduction="none"),
        ]
        images = [
            F.pad(image, [1, 1, 2, 0], mode="replicate"),
            F.interpolate(image, size=[3, 5], mode="bilinear", align_corners=True),
            F.interpolate(image, scale_factor=0.5, mode="bicubic"),
            F.interpolate(image, size=[3, 5], mode="nearest-exact"),
            F.conv_transpose2d(image, image[:, :, :2, :2], stride=2),
        ]
        return losses, images, (torch.linalg.norm(x, 3, -1), x.T, x.mT, x @ x.T, torch.mean(x, 1, dtype=torch.float64))


class Pieces(nn.Module):
    """Is exported and taken apart into operators of which others are made."""

    def forward(self, x, image):
        return F.instance_norm(image, eps=0.5), torch.softmax(x, -1) + torch.log_softmax(x, 0).double()


class Missing(nn.Module):
    """Uses operators that Lamella does not have."""

    def forward(self, x):
        return torch.nuclear_norm(x) + torch.frobenius_norm(x, [0, 1])


class TwoInputs(nn.Module):
    """Has a dictionary among its inputs, numbers, keywords, and a nested result."""

    def forward(self, x, parts: dict[str, torch.Tensor], n: int, *, scale: float = 1.0):
        y = parts["b"] @ x + parts["a"]
        left, right = y.chunk(2, 1)
        return {"s": (left * n, [right, y.shape[0]]), "most": y.max(1).values, "none": None}, scale


class Dynamic(nn.Module):
    """Computes with a size that is known when it runs."""

    def forward(self, x):
        n = x.shape[0]
        y = x.reshape(n * 2, -1)
        return y.expand(n * 2, 2), torch.arange(n, dtype=torch.float32) + x.size(1), torch.cat([x, x])[: n - 1]


class Counts(nn.Module):
    """Changes buffers in training, and has a constant and a buffer that is not saved."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(2)
        self.register_buffer("calls", torch.zeros(1))
        self.register_buffer("offset", torch.ones(2), persistent=False)
        self.factor = torch.tensor([1.0, 2.0])

    def forward(self, x):
        self.calls += 1
        return self.norm(x) * self.calls * self.factor + self.offset
