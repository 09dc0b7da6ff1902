"""A language model of letters by an LSTM, which then writes a line. ``lamella run lstm_lm.py``"""

import argparse
import sys

import torch
from losses import fell
from torch import nn

TEXT = "a dispatcher asks each argument for its keys, and the highest key answers first. " * 20


class LanguageModel(nn.Module):
    """An embedding of letters, an LSTM of two layers, and a linear layer to scores of letters."""

    def __init__(self, letters, width=64):
        super().__init__()
        self.embedding = nn.Embedding(letters, width)
        self.lstm = nn.LSTM(width, width, num_layers=2, batch_first=True, dropout=0.1)
        self.head = nn.Linear(width, letters)

    def forward(self, x, state=None):
        out, state = self.lstm(self.embedding(x), state)
        return self.head(out), state


@torch.no_grad()
def write(model, start, length):
    """Continues some first letters with the most probable ones."""
    model.eval()
    written = start
    logits, state = model(start)
    for _ in range(length):
        last = logits[:, -1:].argmax(-1)
        written = torch.cat([written, last], dim=1)
        logits, state = model(last, state)
    return written


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--steps", type=int, default=60)
    args = parser.parse_args(argv)

    torch.manual_seed(0)
    letters = sorted(set(TEXT))
    data = torch.tensor([letters.index(c) for c in TEXT], device=args.device)
    model = LanguageModel(len(letters)).to(args.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    loss_of = nn.CrossEntropyLoss()
    losses = []
    for _ in range(args.steps):
        starts = torch.randint(0, len(data) - 33, (16,)).tolist()
        batch = torch.stack([data[s : s + 33] for s in starts])
        logits, _ = model(batch[:, :-1])
        loss = loss_of(logits.transpose(1, 2), batch[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    written = write(model, data[None, :8], 60)
    print("".join(letters[i] for i in written[0].tolist()))
    return fell(losses)


if __name__ == "__main__":
    sys.exit(main())
