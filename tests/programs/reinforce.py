"""A torch program: a policy learns by its rewards to walk to the right end of a corridor. Run by `lamella run`."""

import argparse
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.distributions import Categorical, kl_divergence


class Corridor:
    """A corridor from -5 to 5, entered in the middle: its right end gives a reward, and every step costs."""

    def reset(self):
        self.place, self.steps = 0, 0
        return self.state()

    def state(self):
        return np.array([self.place / 5, 1.0], dtype=np.float32)

    def step(self, action):
        self.place += 1 if action == 1 else -1
        self.steps += 1
        reward = {5: 10.0, -5: -10.0}.get(self.place, -0.1)
        return self.state(), reward, abs(self.place) == 5 or self.steps == 40


class Policy(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.body = nn.Linear(2, hidden)
        self.actor = nn.Linear(hidden, 2)
        self.critic = nn.Linear(hidden, 1)

    def forward(self, x):
        x = F.relu(self.body(x))
        return Categorical(F.softmax(self.actor(x), dim=-1)), self.critic(x)


def episode(env, policy):
    state, done, steps = env.reset(), False, []
    while not done:
        chosen, value = policy(torch.from_numpy(state).float().unsqueeze(0))
        action = chosen.sample()
        state, reward, done = env.step(action.item())
        steps.append((chosen.log_prob(action), value.squeeze(), chosen.entropy(), reward))
    return steps


def discounted(rewards, gamma):
    total, returns = 0.0, deque()
    for reward in rewards[::-1]:
        total = reward + gamma * total
        returns.appendleft(total)
    return torch.tensor(returns)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--episodes", type=int, default=80)
    parser.add_argument("--gamma", type=float, default=0.95)
    parser.add_argument("--seed", type=int, default=3)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    env, policy = Corridor(), Policy()
    optimizer = optim.Adam(policy.parameters(), lr=2e-2)
    ends, at_start = deque(maxlen=20), policy(torch.zeros(1, 2))[0]
    for number in range(args.episodes):
        log_probs, values, entropies, rewards = zip(*episode(env, policy), strict=True)
        returns = discounted(rewards, args.gamma)
        values = torch.stack(values)
        advantages = returns - values.detach()
        policy_loss = torch.stack([-p * a for p, a in zip(log_probs, advantages, strict=True)]).sum()
        loss = policy_loss + F.smooth_l1_loss(values, returns) - 0.01 * torch.cat(entropies).sum()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 5.0)
        optimizer.step()
        ends.append(env.place)
        if number % 20 == 19:
            print(f"episode {number}\tsteps {len(rewards)}\tright ends {list(ends).count(5)} of 20")
    learned = policy(torch.zeros(1, 2))[0]
    print(f"divergence {kl_divergence(learned, at_start).item():.3f}")


if __name__ == "__main__":
    main()
