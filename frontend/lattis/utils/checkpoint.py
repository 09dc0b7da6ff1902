"""Recomputation instead of memory; from the plugin that differentiates, which has it as ``lattis.autograd.checkpoint``.

>>> import lattis.utils.checkpoint
>>> x = lattis.ones(1, requires_grad=True)
>>> lattis.utils.checkpoint.checkpoint(lattis.exp, x).backward()
>>> x.grad
tensor([2.7183])
"""

import lattis

try:
    from_autograd = lattis.autograd.checkpoint
except AttributeError as error:
    raise ImportError(f"lattis.utils.checkpoint: {error}") from None

CheckpointError = from_autograd.CheckpointError
checkpoint = from_autograd.checkpoint
checkpoint_sequential = from_autograd.checkpoint_sequential

__all__ = ["CheckpointError", "checkpoint", "checkpoint_sequential"]
