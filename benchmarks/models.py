"""Models for the benchmarks of modules. The same code makes a model of torch and of lamella."""

from __future__ import annotations

from types import ModuleType
from typing import Any


def resnet18(ns: ModuleType, classes: int = 1000) -> Any:
    """Makes the network of 18 layers of He et al., Deep Residual Learning for Image Recognition (2015), table 1."""
    nn = ns.nn

    class Block(nn.Module):
        def __init__(self, before: int, width: int, stride: int):
            super().__init__()
            self.conv1 = nn.Conv2d(before, width, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(width)
            self.relu = nn.ReLU(inplace=True)
            self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(width)
            self.downsample = None
            if stride != 1 or before != width:
                self.downsample = nn.Sequential(nn.Conv2d(before, width, 1, stride, bias=False), nn.BatchNorm2d(width))

        def forward(self, x: Any) -> Any:
            short = x if self.downsample is None else self.downsample(x)
            x = self.relu(self.bn1(self.conv1(x)))
            return self.relu(self.bn2(self.conv2(x)) + short)

    stages, before = [], 64
    for width, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        stages.append(nn.Sequential(Block(before, width, stride), Block(width, width, 1)))
        before = width
    return nn.Sequential(
        nn.Conv2d(3, 64, 7, 2, 3, bias=False),
        nn.BatchNorm2d(64),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(3, 2, 1),
        *stages,
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(512, classes),
    )


def mlp(ns: ModuleType) -> Any:
    return ns.nn.Sequential(ns.nn.Linear(784, 256), ns.nn.ReLU(), ns.nn.Linear(256, 10))


def convnet(ns: ModuleType) -> Any:
    nn = ns.nn
    return nn.Sequential(
        *(nn.Conv2d(1, 10, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(10, 20, 5), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Flatten(), nn.Linear(320, 50), nn.ReLU(), nn.Linear(50, 10)),
    )


def ten_relus(ns: ModuleType) -> Any:
    return ns.nn.Sequential(*(ns.nn.ReLU() for _ in range(10)))
