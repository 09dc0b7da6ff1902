"""Ways in which ranks train together, beside the mean of gradients."""

from . import ddp_comm_hooks

__all__ = ["ddp_comm_hooks"]
