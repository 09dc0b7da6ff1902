"""An older torch program: a critic with a penalty on its gradient, and a generator. Run by `lamella run`."""

import argparse

import numpy as np
import torch
import torch.autograd as autograd
import torch.nn as nn
from torch.autograd import Variable
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--n_epochs", type=int, default=40)
parser.add_argument("--n_critic", type=int, default=4, help="steps of the critic for one of the generator")
parser.add_argument("--latent_dim", type=int, default=4)
opt = parser.parse_args()

cuda = True if torch.cuda.is_available() else False
Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor
torch.manual_seed(0)
np.random.seed(0)


def weights_init(m):
    if m.__class__.__name__.find("Linear") != -1:
        nn.init.orthogonal_(m.weight.data, nn.init.calculate_gain("leaky_relu", 0.2))
        nn.init.constant_(m.bias.data, 0)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()

        def block(in_feat, out_feat, normalize=True):
            layers = [nn.Linear(in_feat, out_feat)]
            if normalize:
                layers.append(nn.BatchNorm1d(out_feat, 0.8))
            layers.append(nn.LeakyReLU(0.2, inplace=True))
            return layers

        self.model = nn.Sequential(*block(opt.latent_dim, 32, normalize=False), *block(32, 32), nn.Linear(32, 2))

    def forward(self, z):
        return self.model(z)


generator = Generator()
critic = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
for net in (generator, critic):
    net.apply(weights_init)
    if cuda:
        net.cuda()
optimizer_G = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.9))
optimizer_D = torch.optim.RMSprop(critic.parameters(), lr=2e-3)


def compute_gradient_penalty(D, real_samples, fake_samples):
    alpha = Tensor(np.random.random((real_samples.size(0), 1)))
    interpolates = (alpha * real_samples + (1 - alpha) * fake_samples).requires_grad_(True)
    d_interpolates = D(interpolates)
    ones = Variable(Tensor(real_samples.shape[0], 1).fill_(1.0), requires_grad=False)
    gradients = autograd.grad(
        outputs=d_interpolates,
        inputs=interpolates,
        grad_outputs=ones,
        create_graph=True,
        retain_graph=True,
        only_inputs=True,
    )[0]
    gradients = gradients.view(gradients.size(0), -1)
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean()


angles = 2 * np.pi * np.random.random(256)
circle = torch.from_numpy(np.stack([2 + np.cos(angles), np.sin(angles) - 1], 1)).type(Tensor)
dataloader = DataLoader(TensorDataset(circle), batch_size=64, shuffle=True)


def distance():
    with torch.no_grad():
        made = generator(Variable(Tensor(np.random.normal(0, 1, (256, opt.latent_dim)))))
    return (made.mean(0) - circle.mean(0)).norm().item(), (made.std(0) / circle.std(0)).log().abs().max().item()


print("[start] mean off by {:.3f}, spread by {:.3f}".format(*distance()))
batches_done = 0
for epoch in range(opt.n_epochs):
    for (samples,) in dataloader:
        real = Variable(samples.type(Tensor))
        optimizer_D.zero_grad()
        z = Variable(Tensor(np.random.normal(0, 1, (real.shape[0], opt.latent_dim))))
        fake = generator(z)
        penalty = compute_gradient_penalty(critic, real.data, fake.data)
        d_loss = -torch.mean(critic(real)) + torch.mean(critic(fake.detach())) + 10 * penalty
        d_loss.backward()
        optimizer_D.step()
        if batches_done % opt.n_critic == 0:
            optimizer_G.zero_grad()
            g_loss = -torch.mean(critic(generator(z)))
            g_loss.backward()
            optimizer_G.step()
        batches_done += 1
    if epoch % 10 == 0:
        print(f"[Epoch {epoch}/{opt.n_epochs}] [D loss: {d_loss.item():f}] [G loss: {g_loss.item():f}]")
print("[end] mean off by {:.3f}, spread by {:.3f}".format(*distance()))
