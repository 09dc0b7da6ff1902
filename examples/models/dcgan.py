"""DCGAN: one network generates pictures of a bright blob, another one learns to distinguish them from real ones."""

import argparse
import sys

import lamella as torch
import lamella.nn as nn
from losses import fell

LATENT, WIDTH, SIDE = 16, 16, 16


class Generator(nn.Module):
    """Radford et al., Unsupervised Representation Learning with DCGANs (2016): noise to pictures."""

    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(
            nn.ConvTranspose2d(LATENT, 4 * WIDTH, 4, 1, 0, bias=False),
            nn.BatchNorm2d(4 * WIDTH),
            nn.ReLU(True),
            nn.ConvTranspose2d(4 * WIDTH, 2 * WIDTH, 4, 2, 1, bias=False),
            nn.BatchNorm2d(2 * WIDTH),
            nn.ReLU(True),
            nn.ConvTranspose2d(2 * WIDTH, 1, 4, 2, 1, bias=False),
            nn.Tanh(),
        )

    def forward(self, z):
        return self.main(z)


class Discriminator(nn.Module):
    """Maps pictures to a score of how real they look."""

    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(
            nn.Conv2d(1, 2 * WIDTH, 4, 2, 1, bias=False),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(2 * WIDTH, 4 * WIDTH, 4, 2, 1, bias=False),
            nn.BatchNorm2d(4 * WIDTH),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(4 * WIDTH, 1, 4, 1, 0, bias=False),
            nn.Flatten(0),
        )

    def forward(self, x):
        return self.main(x)


def weights_init(module):
    name = module.__class__.__name__
    if "Conv" in name:
        nn.init.normal_(module.weight, 0.0, 0.02)
    elif "BatchNorm" in name:
        nn.init.normal_(module.weight, 1.0, 0.02)
        nn.init.zeros_(module.bias)


def blobs(n, device):
    """Makes pictures (n, 1, SIDE, SIDE) between -1 and 1 of a blob near the middle."""
    at = torch.rand(n, 2, 1, 1, device=device) * 6 + SIDE / 2 - 3
    places = torch.arange(SIDE, device=device)
    distance = (places[:, None] - at[:, :1]) ** 2 + (places - at[:, 1:]) ** 2
    return 2 * torch.exp(-distance / 8) - 1


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--steps", type=int, default=30)
    args = parser.parse_args(argv)

    torch.manual_seed(0)
    generator, discriminator = Generator().to(args.device), Discriminator().to(args.device)
    generator.apply(weights_init)
    discriminator.apply(weights_init)
    ours = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
    theirs = torch.optim.Adam(discriminator.parameters(), lr=2e-3, betas=(0.5, 0.999))
    criterion = nn.BCEWithLogitsLoss()
    losses = []
    for _ in range(args.steps):
        real = blobs(32, args.device)
        fake = generator(torch.randn(32, LATENT, 1, 1, device=args.device))
        yes, no = torch.ones(32, device=args.device), torch.zeros(32, device=args.device)

        discriminator.zero_grad()
        loss = criterion(discriminator(real), yes) + criterion(discriminator(fake.detach()), no)
        loss.backward()
        theirs.step()

        generator.zero_grad()
        criterion(discriminator(fake), yes).backward()
        ours.step()
        losses.append(loss.item())  # the discriminator learns first
    with torch.no_grad():
        drawn = generator(torch.randn(64, LATENT, 1, 1, device=args.device)).mean(0)[0]
    middle, edge = drawn[6:10, 6:10].mean().item(), drawn[0].mean().item()
    print(f"a drawn picture's middle is {middle:.2f}, its edge {edge:.2f}")
    return fell(losses)


if __name__ == "__main__":
    sys.exit(main())
