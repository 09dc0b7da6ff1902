"""Trains multi-head attention whose every dimension has a name, and the same network without names beside it.

The task: of each sequence of tokens, find the largest one. Exits with 1 if a loss or a weight of the two networks
differs by one bit, or if fewer than 95 % of new sequences are read correctly. Option: --steps.
"""

import argparse
import sys

import lamella
from lamella import named, nn
from lamella.nn import functional as F

BATCH, LENGTH, TOKENS, HEADS, SIZE = 64, 8, 10, 2, 8
FEATURES = HEADS * SIZE


class NamedAttention(nn.Module):
    """Attention in which products are sums over dimensions by name, and no dimension is counted."""

    def __init__(self):
        super().__init__()
        for name in ("query", "key", "value"):
            weight = lamella.randn(FEATURES, HEADS, SIZE) / FEATURES**0.5
            self.register_parameter(name, nn.Parameter(weight.rename("feature", "head", "size")))
        self.out = nn.Parameter(
            (lamella.randn(HEADS, SIZE, FEATURES) / FEATURES**0.5).rename("head", "size", "feature")
        )

    def forward(self, x):  # batch, time, feature
        query = named.dot(x, self.query, "feature")  # batch, time, head, size
        key = named.dot(x, self.key, "feature").rename(time="other")
        value = named.dot(x, self.value, "feature").rename(time="other")
        scores = named.einsum("batch time head size, batch other head size -> batch head time other", query, key)
        weights = (scores / SIZE**0.5).softmax("other")
        mixed = named.einsum("batch head time other, batch other head size -> batch time head size", weights, value)
        return named.dot(mixed, self.out, ["head", "size"])


class Attention(nn.Module):
    """The same without names."""

    def __init__(self):
        super().__init__()
        for name in ("query", "key", "value"):
            self.register_parameter(name, nn.Parameter(lamella.randn(FEATURES, HEADS, SIZE) / FEATURES**0.5))
        self.out = nn.Parameter(lamella.randn(HEADS, SIZE, FEATURES) / FEATURES**0.5)

    def forward(self, x):
        query, key, value = (lamella.einsum("btf,fhs->bths", x, w) for w in (self.query, self.key, self.value))
        weights = (lamella.einsum("bths,bohs->bhto", query, key) / SIZE**0.5).softmax(3)
        return lamella.einsum("bths,hsf->btf", lamella.einsum("bhto,bohs->bths", weights, value), self.out)


class Network(nn.Module):
    def __init__(self, attention):
        super().__init__()
        self.embedding, self.attention = nn.Embedding(TOKENS, FEATURES), attention()
        self.norm, self.head = nn.LayerNorm(FEATURES), nn.Linear(FEATURES, TOKENS)

    def forward(self, tokens):
        x = self.embedding(tokens)
        if tokens.has_names():
            x = x.refine_names(..., "feature")
        return self.head(self.norm(x + self.attention(x)).amax(1))


def sequences(seed):
    tokens = lamella.randint(TOKENS, (BATCH, LENGTH), generator=lamella.Generator().manual_seed(seed))
    return tokens, tokens.amax(1)


def train(attention, steps, names):
    """Trains a network; returns it with its losses."""
    lamella.manual_seed(0)
    network = Network(attention)
    optimizer = lamella.optim.Adam(network.parameters(), lr=1e-2)
    losses = []
    for step in range(steps):
        tokens, largest = sequences(step)
        scores = network(tokens.rename("batch", "time") if names else tokens)
        loss = F.cross_entropy(scores, largest.rename("batch") if names else largest)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return network, losses


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=200)
    steps = parser.parse_args().steps
    network, losses = train(NamedAttention, steps, names=True)
    plain, others = train(Attention, steps, names=False)
    pairs = zip(network.parameters(), plain.parameters(), strict=True)
    same = losses == others and all(lamella.equal(a.rename(None), b) for a, b in pairs)
    tokens, largest = sequences(-1)
    right = network(tokens.rename("batch", "time")).argmax(1).rename(None).eq(largest).double().mean().item()
    print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f}; largest token found in {right:.1%} of new sequences")
    print("with and without names: " + ("the same bits" if same else "different losses or weights"))
    print("names of the query's gradient: " + ", ".join(network.attention.query.grad.names))
    return 0 if same and right >= 0.95 else 1


if __name__ == "__main__":
    sys.exit(main())
