"""A torch program: an LSTM learns a text by its characters, and writes. Run by `lamella run`."""

import argparse
import math
import time

import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_

TEXT = "the cat sat on the mat and the dog lay on the log while the rain fell on the plain. " * 40


class CharModel(nn.Module):
    def __init__(self, vocab, hidden=64, layers=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, 32)
        self.lstm = nn.LSTM(32, hidden, layers, batch_first=True, dropout=0.1)
        self.head = nn.Linear(hidden, vocab)

    def forward(self, x, state=None):
        out, state = self.lstm(self.embed(x), state)
        return self.head(out), state

    @torch.no_grad()
    def sample(self, start, length, temperature=0.8):
        self.eval()
        x, state, out = start, None, [start]
        for _ in range(length):
            logits, state = self(x, state)
            probs = torch.softmax(logits[:, -1] / temperature, dim=-1)
            x = torch.multinomial(probs, num_samples=1)
            out.append(x)
        return torch.cat(out, dim=1)


def batches(data, size, length):
    while True:
        starts = torch.randint(len(data) - length - 1, (size,))
        x = torch.stack([data[s : s + length] for s in starts])
        y = torch.stack([data[s + 1 : s + length + 1] for s in starts])
        yield x, y


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--resume", default="")
    parser.add_argument("--save", default="char_lm.pt")
    args = parser.parse_args()

    torch.manual_seed(1337)
    chars = sorted(set(TEXT))
    stoi = {c: i for i, c in enumerate(chars)}
    data = torch.tensor([stoi[c] for c in TEXT], dtype=torch.long)
    model = CharModel(len(chars))
    print(f"{sum(p.numel() for p in model.parameters() if p.requires_grad)} parameters")
    decay = [p for n, p in model.named_parameters() if p.dim() >= 2]
    rest = [p for n, p in model.named_parameters() if p.dim() < 2]
    groups = [{"params": decay, "weight_decay": 0.01}, {"params": rest, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=1e-2, betas=(0.9, 0.95))
    warm = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, total_iters=10)
    cool = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.steps)
    scheduler = torch.optim.lr_scheduler.SequentialLR(optimizer, [warm, cool], milestones=[10])
    criterion = nn.CrossEntropyLoss()
    begin = 0
    if args.resume:
        saved = torch.load(args.resume)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        begin = saved["step"]

    start = time.time()
    source = batches(data, 16, 32)
    model.train()
    for step in range(begin, args.steps):
        x, y = next(source)
        logits, _ = model(x)
        loss = criterion(logits.reshape(-1, len(chars)), y.reshape(-1))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        norm = clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        if step % 50 == 0 or step == args.steps - 1:
            lr = optimizer.param_groups[0]["lr"]
            print(f"step {step} loss {loss.item():.3f} ppl {math.exp(loss.item()):.1f} norm {norm:.2f} lr {lr:.4f}")
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": args.steps}, args.save)
    text = model.sample(torch.tensor([[stoi["t"]]]), 60)
    print("".join(chars[i] for i in text[0].tolist()))
    print(f"final loss {loss.item():.3f} after {time.time() - start:.1f}s")


if __name__ == "__main__":
    main()
