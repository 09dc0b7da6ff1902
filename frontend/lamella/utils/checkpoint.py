"""Recomputation in backward in place of saved tensors: the functions of ``lamella.autograd.checkpoint``, of the
autograd plugin; and selective checkpoints, which save the results of some operators.

>>> import lamella.utils.checkpoint
>>> x = lamella.ones(1, requires_grad=True)
>>> lamella.utils.checkpoint.checkpoint(lamella.exp, x).backward()
>>> x.grad
tensor([2.7183])
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import lamella
from lamella import Tensor
from lamella._devices import host
from lamella.utils._selective import (
    SAC_IGNORED_OPS,
    CheckpointPolicy,
    SelectiveCheckpointContext,
    create_selective_checkpoint_contexts,
)

try:
    from_autograd = lamella.autograd.checkpoint
except AttributeError as error:
    raise ImportError(f"lamella.utils.checkpoint: {error}") from None

CheckpointError = from_autograd.CheckpointError
CheckpointFunction = from_autograd.CheckpointFunction
checkpoint = from_autograd.checkpoint
checkpoint_sequential = from_autograd.checkpoint_sequential
noop_context_fn = from_autograd.noop_context_fn
set_checkpoint_early_stop = from_autograd.set_checkpoint_early_stop

__all__ = [
    "SAC_IGNORED_OPS",
    "CheckpointError",
    "CheckpointFunction",
    "CheckpointPolicy",
    "DefaultDeviceType",
    "SelectiveCheckpointContext",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "create_selective_checkpoint_contexts",
    "detach_variable",
    "get_device_states",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
    "set_device_states",
]


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Returns the arguments with each tensor cut off from its history; it requires grad if it did.

    Raises:
        RuntimeError: ``inputs`` is not a tuple

    >>> x = lamella.ones(1, requires_grad=True) * 2
    >>> lamella.utils.checkpoint.detach_variable((x, 3))
    (tensor([2.], requires_grad=True), 3)
    """
    if not isinstance(inputs, tuple):
        raise RuntimeError(f"detach_variable: argument 'inputs' must be a tuple, got {type(inputs).__name__}")
    return tuple(x.detach().requires_grad_(x.requires_grad) if isinstance(x, Tensor) else x for x in inputs)


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warns if none of the arguments requires grad.

    >>> lamella.utils.checkpoint.check_backward_validity((lamella.ones(1, requires_grad=True), 2))
    """
    if not any(x.requires_grad for x in inputs if isinstance(x, Tensor)):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2)


def get_device_states(*args: Any) -> tuple[list[int], list[Any]]:
    """Returns the indices of the devices that the tensors among the arguments are on, and their generators' states.

    Tensors in host memory and on device "meta" do not count.

    >>> lamella.utils.checkpoint.get_device_states(lamella.ones(1))
    ([], [])
    """
    hosts = {host().type, "meta"}
    found = {(x.device.type, x.device.index or 0) for x in args if isinstance(x, Tensor)}
    kinds = sorted((kind, index) for kind, index in found if kind not in hosts)
    return [index for _, index in kinds], [getattr(lamella, kind).get_rng_state(index) for kind, index in kinds]


def set_device_states(devices: list[int], states: list[Any], *, device_type: str | None = None) -> None:
    """Restores the states of generators that ``get_device_states`` returned.

    >>> lamella.utils.checkpoint.set_device_states(*lamella.utils.checkpoint.get_device_states(lamella.ones(1)))
    """
    for index, state in zip(devices, states, strict=True):
        getattr(lamella, device_type or DefaultDeviceType.get_device_type()).set_rng_state(state, index)


class DefaultDeviceType:
    """The kind of devices whose generators ``set_device_states`` restores unless it is given one.

    >>> lamella.utils.checkpoint.DefaultDeviceType.set_device_type("cpu")
    >>> lamella.utils.checkpoint.DefaultDeviceType.get_device_type()
    'cpu'
    """

    _given: str | None = None

    @staticmethod
    def set_device_type(device: str) -> None:
        """Chooses the kind."""
        DefaultDeviceType._given = device

    @staticmethod
    def get_device_type() -> str:
        """Returns the kind that was chosen; else that of the accelerator, or of the default device."""
        found = lamella.accelerator.current_accelerator() or lamella.get_default_device()
        return DefaultDeviceType._given or lamella.device(found).type


@contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """Takes the switch of torch, and changes nothing: errors of a checkpoint always say which tensors differ.

    >>> with lamella.utils.checkpoint.set_checkpoint_debug_enabled(True):
    ...     pass
    """
    yield
