"""A variational autoencoder of generated pictures of bars. Run: ``lamella run vae.py``"""

import argparse
import sys

import torch
import torch.nn.functional as F
from losses import fell
from torch import nn

SIDE = 12


class VAE(nn.Module):
    """Kingma and Welling, Auto-Encoding Variational Bayes (2014): maps a picture to a normal distribution, and back."""

    def __init__(self, hidden=64, latent=4):
        super().__init__()
        self.encoder = nn.Sequential(nn.Flatten(), nn.Linear(SIDE * SIDE, hidden), nn.ReLU())
        self.mean, self.log_var = nn.Linear(hidden, latent), nn.Linear(hidden, latent)
        self.decoder = nn.Sequential(
            nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, SIDE * SIDE), nn.Unflatten(1, (1, SIDE, SIDE))
        )

    def forward(self, x):
        h = self.encoder(x)
        mean, log_var = self.mean(h), self.log_var(h)
        z = mean + torch.randn_like(mean) * torch.exp(0.5 * log_var)
        return self.decoder(z), mean, log_var


def loss_of(logits, x, mean, log_var):
    """Returns the negative evidence lower bound of a picture."""
    seen = F.binary_cross_entropy_with_logits(logits, x, reduction="sum")
    divergence = -0.5 * torch.sum(1 + log_var - mean.pow(2) - log_var.exp())
    return (seen + divergence) / len(x)


def bars(n, device):
    """Makes pictures (n, 1, SIDE, SIDE) with ones in a bar of random columns and height, and zeros elsewhere."""
    left = torch.randint(0, SIDE - 3, (n, 1, 1, 1), device=device)
    height = torch.randint(2, SIDE, (n, 1, 1, 1), device=device)
    column, row = torch.arange(SIDE, device=device), torch.arange(SIDE, device=device)[:, None]
    return ((column >= left) & (column < left + 3) & (row >= SIDE - height)).float()


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--steps", type=int, default=150)
    args = parser.parse_args(argv)

    torch.manual_seed(0)
    model = VAE().to(args.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    losses = []
    for _ in range(args.steps):
        x = bars(32, args.device)
        logits, mean, log_var = model(x)
        loss = loss_of(logits, x, mean, log_var)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    with torch.no_grad():
        picture = torch.sigmoid(model.decoder(torch.randn(1, 4, device=args.device)))[0, 0]
    print("\n".join("".join(" .:*#"[int(v * 4.999)] for v in line) for line in picture.tolist()))
    return fell(losses)


if __name__ == "__main__":
    sys.exit(main())
