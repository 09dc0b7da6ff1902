"""torch.nn.utils: helpers around modules."""

from lamella.nn.utils import rnn

__all__ = ["rnn"]
