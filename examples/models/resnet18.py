"""ResNet-18 learns the direction of stripes in generated pictures. Run: ``lamella run resnet18.py``"""

import argparse
import sys

import torch
import torch.nn.functional as F
from losses import fell
from torch import nn


class Block(nn.Module):
    """Two convolutions with a residual connection around them."""

    def __init__(self, before, width, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(before, width, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.shortcut = nn.Sequential()
        if stride != 1 or before != width:
            self.shortcut = nn.Sequential(nn.Conv2d(before, width, 1, stride, bias=False), nn.BatchNorm2d(width))

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)), inplace=True)
        return F.relu(self.bn2(self.conv2(out)) + self.shortcut(x), inplace=True)


class ResNet18(nn.Module):
    """The network of He et al., Deep Residual Learning for Image Recognition (2015), with a stem for small pictures."""

    def __init__(self, classes=4):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 64, 3, padding=1, bias=False), nn.BatchNorm2d(64), nn.ReLU(True))
        stages, before = [], 64
        for width, stride in [(64, 1), (128, 2), (256, 2), (512, 2)]:
            stages += [Block(before, width, stride), Block(width, width)]
            before = width
        self.stages = nn.Sequential(*stages)
        self.head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, classes))

        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x):
        return self.head(self.stages(self.stem(x)))


def stripes(n, side, device):
    """Makes pictures (n, 3, side, side) of noisy stripes; returns them, and the numbers of their four directions."""
    y = torch.randint(0, 4, (n,), device=device)
    rows = torch.linspace(0, 12, side, device=device)
    down, right = rows[:, None].expand(side, side), rows[None, :].expand(side, side)
    patterns = torch.stack([down, right, down + right, down - right]).sin()
    return patterns[y].unsqueeze(1) + 0.3 * torch.randn(n, 3, side, side, device=device), y


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--side", type=int, default=16)
    args = parser.parse_args(argv)

    torch.manual_seed(0)
    model = ResNet18().to(args.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    losses = []
    for _ in range(args.steps):
        x, y = stripes(16, args.side, args.device)
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        x, y = stripes(64, args.side, args.device)
        print(f"{(model(x).argmax(1) == y).float().mean().item():.0%} of new pictures are read")
    return fell(losses)


if __name__ == "__main__":
    sys.exit(main())
