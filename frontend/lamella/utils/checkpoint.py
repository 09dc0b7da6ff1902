"""Recomputation in backward in place of saved tensors: the functions of ``lamella.autograd.checkpoint``, of the
autograd plugin.

>>> import lamella.utils.checkpoint
>>> x = lamella.ones(1, requires_grad=True)
>>> lamella.utils.checkpoint.checkpoint(lamella.exp, x).backward()
>>> x.grad
tensor([2.7183])
"""

import lamella

try:
    from_autograd = lamella.autograd.checkpoint
except AttributeError as error:
    raise ImportError(f"lamella.utils.checkpoint: {error}") from None

CheckpointError = from_autograd.CheckpointError
checkpoint = from_autograd.checkpoint
checkpoint_sequential = from_autograd.checkpoint_sequential

__all__ = ["CheckpointError", "checkpoint", "checkpoint_sequential"]
