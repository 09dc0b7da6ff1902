"""A transformer that translates sentences of a made-up language to another one, whose order of words is reversed."""

import argparse
import sys

import lamella as torch
from lamella import nn
from losses import fell

WORDS, LENGTH, START, PAD = 10, 5, 10, 11  # words are 0 to 9


class Translator(nn.Module):
    """The network of Vaswani et al., Attention Is All You Need (2017), with learned embeddings of positions."""

    def __init__(self, width=32, heads=4):
        super().__init__()
        self.source, self.target = nn.Embedding(WORDS + 2, width), nn.Embedding(WORDS + 2, width)
        self.places = nn.Parameter(torch.randn(LENGTH + 1, width) * 0.1)
        self.transformer = nn.Transformer(width, heads, 1, 1, 64, dropout=0.0, batch_first=True)
        self.head = nn.Linear(width, WORDS)

    def forward(self, source, target):
        causal = self.transformer.generate_square_subsequent_mask(target.shape[1], device=target.device)
        padding = source == PAD
        out = self.transformer(
            self.source(source) + self.places[: source.shape[1]],
            self.target(target) + self.places[: target.shape[1]],
            tgt_mask=causal,
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
        )
        return self.head(out)

    @torch.no_grad()
    def translate(self, source):
        target = torch.full((len(source), 1), START, device=source.device)
        for _ in range(LENGTH):
            target = torch.cat([target, self(source, target)[:, -1:].argmax(-1)], dim=1)
        return target[:, 1:]


def pairs(n, device):
    """Makes sentences of various lengths, and their translations, in which word w becomes 9 - w."""
    source = torch.randint(0, WORDS, (n, LENGTH), device=device)
    target = (WORDS - 1 - source).flip(1)
    short = torch.rand(n, device=device) < 0.3
    source[:, -1] = torch.where(short, PAD, source[:, -1])
    target[:, 0] = torch.where(short, 0, target[:, 0])
    return source, target


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--steps", type=int, default=200)
    args = parser.parse_args(argv)

    torch.manual_seed(0)
    model = Translator().to(args.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    loss_of = nn.CrossEntropyLoss()
    losses = []
    for _ in range(args.steps):
        source, target = pairs(64, args.device)
        given = torch.cat([torch.full((len(source), 1), START, device=args.device), target[:, :-1]], dim=1)
        loss = loss_of(model(source, given).transpose(1, 2), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    source, target = pairs(64, args.device)
    right = (model.translate(source) == target).float().mean().item()
    print(f"{right:.0%} of the words of new sentences are translated rightly")
    return fell(losses)


if __name__ == "__main__":
    sys.exit(main())
