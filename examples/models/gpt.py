"""A small GPT that learns to sort letters, and then sorts new ones by writing them one after the other."""

import argparse
import sys

import lamella as torch
import lamella.nn.functional as F
from lamella import nn
from losses import fell

LETTERS, LENGTH = 8, 6  # the numbers below LETTERS are letters; a sequence is LENGTH letters and their sorted copy


class Attention(nn.Module):
    """Causal self-attention with several heads."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        n, length, width = x.shape
        q, k, v = self.qkv(x).split(width, dim=2)
        q, k, v = (t.view(n, length, self.heads, width // self.heads).transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).contiguous().view(n, length, width))


class Block(nn.Module):
    """Attention and a small network, each with a norm before it and a residual connection around it."""

    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.attention = nn.LayerNorm(width), Attention(width, heads)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    """Radford et al., Language Models are Unsupervised Multitask Learners (2019), with tied embeddings."""

    def __init__(self, letters=LETTERS, length=2 * LENGTH, width=48, heads=4, layers=2):
        super().__init__()
        self.tokens, self.places = nn.Embedding(letters, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, letters, bias=False)
        self.apply(self.start)
        self.head.weight = self.tokens.weight

    @staticmethod
    def start(module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=0.02)
            if getattr(module, "bias", None) is not None:
                nn.init.zeros_(module.bias)

    def forward(self, x):
        x = self.tokens(x) + self.places(torch.arange(x.shape[1], device=x.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))

    @torch.no_grad()
    def generate(self, x, count, temperature=1.0, top_k=None):
        for _ in range(count):
            logits = self(x)[:, -1] / temperature
            if top_k is not None:
                least = logits.topk(top_k).values[:, [-1]]
                logits = logits.masked_fill(logits < least, float("-inf"))
            x = torch.cat([x, torch.multinomial(F.softmax(logits, dim=-1), 1)], dim=1)
        return x


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--steps", type=int, default=150)
    args = parser.parse_args(argv)

    torch.manual_seed(0)
    model = GPT().to(args.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    losses = []
    for _ in range(args.steps):
        letters = torch.randint(0, LETTERS, (64, LENGTH), device=args.device)
        x = torch.cat([letters, letters.sort(dim=1).values], dim=1)
        logits = model(x[:, :-1])[:, LENGTH - 1 :]
        loss = F.cross_entropy(logits.reshape(-1, LETTERS), x[:, LENGTH:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    letters = torch.randint(0, LETTERS, (64, LENGTH), device=args.device)
    written = model.generate(letters, LENGTH, top_k=1)[:, LENGTH:]
    right = (written == letters.sort(dim=1).values).all(dim=1).float().mean().item()
    print(f"{letters[0].tolist()} sorted is {written[0].tolist()}; {right:.0%} of new sequences are sorted rightly")
    return fell(losses)


if __name__ == "__main__":
    sys.exit(main())
