"""Saves a ResNet-18 with random weights for resnet.cpp. Run: ``python save.py resnet.lamella``"""

import sys

import lamella as torch
from lamella import nn


class Block(nn.Module):
    """Two convolutions with a residual connection around them."""

    def __init__(self, before, width, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(before, width, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.shortcut = nn.Sequential()
        if stride != 1:
            self.shortcut = nn.Sequential(nn.Conv2d(before, width, 1, stride, bias=False), nn.BatchNorm2d(width))

    def forward(self, x):
        out = torch.relu(self.bn1(self.conv1(x)))
        return torch.relu(self.bn2(self.conv2(out)) + self.shortcut(x))


def resnet18(classes=1000):
    """Returns the network of He et al. (2015), Deep Residual Learning for Image Recognition, for 224×224 pictures."""
    layers = [nn.Conv2d(3, 64, 7, 2, padding=3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    before = 64
    for width, stride in [(64, 1), (128, 2), (256, 2), (512, 2)]:
        layers += [Block(before, width, stride), Block(width, width, 1)]
        before = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, classes))


def main(path):
    torch.manual_seed(0)
    net = resnet18().eval()
    with torch.no_grad():
        traced = torch.jit.trace(net, torch.rand(1, 3, 224, 224))
        traced.save(path)
        scores = traced(torch.ones(1, 3, 224, 224))
    print(f"best {scores.argmax().item()}, score {scores.max().item():.6f}")


if __name__ == "__main__":
    main(sys.argv[1])
