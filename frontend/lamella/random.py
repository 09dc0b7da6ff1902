"""Seeds and states of the process's random generators, under the names of torch.random.

>>> import lamella
>>> _ = lamella.random.manual_seed(1)
>>> with lamella.random.fork_rng():
...     x = lamella.rand(2)
>>> lamella.equal(x, lamella.rand(2))
True
"""

from __future__ import annotations

import contextlib
import copy
import os  # not secrets, which would import two more modules
from collections.abc import Iterator
from typing import Any

from lamella import _C
from lamella._devices import current_accelerator, host

__all__ = ["drawing_from", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"]


def default_generator(device: Any = None) -> _C.Generator:
    """Returns the default generator of a device; None: the host's.

    >>> lamella.default_generator().device
    device(type='cpu')
    """
    return _C._default_generator() if device is None else _C._default_generator(device)


def manual_seed(seed: int) -> _C.Generator:
    """Seeds the default generators of all devices; returns the host's. A seed of another type is converted by ``int``.

    >>> lamella.manual_seed(0).initial_seed()
    0
    """
    try:
        number = int(seed)
    except (TypeError, ValueError) as error:
        message = f"manual_seed: argument 'seed': expected a number, got {type(seed).__name__}"
        raise TypeError(message) from error
    _C._seed_all(number)
    return _C._default_generator()


def initial_seed() -> int:
    """Returns the seed of the host's default generator.

    >>> _ = lamella.manual_seed(3)
    >>> lamella.initial_seed()
    3
    """
    return _C._default_generator().initial_seed()


def get_rng_state() -> tuple[int, int]:
    """Returns the state of the host's default generator: its seed, and its position in the stream of numbers.

    >>> state = lamella.get_rng_state()
    >>> x = lamella.rand(3)
    >>> lamella.set_rng_state(state)
    >>> lamella.equal(lamella.rand(3), x)
    True
    """
    return _C._default_generator().get_state()


def set_rng_state(new_state: tuple[int, int]) -> None:
    """Sets the state of the host's default generator to one that ``get_rng_state`` returned.

    >>> lamella.set_rng_state(lamella.get_rng_state())
    """
    _C._default_generator().set_state(tuple(new_state))


def seed() -> int:
    """Seeds the default generators of all devices with a random number from the operating system, and returns it.

    >>> lamella.seed() == lamella.initial_seed()
    True
    """
    number = int.from_bytes(os.urandom(8), "little")
    manual_seed(number)
    return number


def drawing_from(generator: _C.Generator) -> contextlib.AbstractContextManager[_C.Generator]:
    """Makes a generator the default one of its device within a block, for the calling thread alone.

    Operators draw from it, and ``manual_seed``, ``initial_seed``, ``get_rng_state`` and ``set_rng_state`` use it.
    ``lamella.capture_state`` passes it on to other threads and tasks.

    Raises:
        TypeError: ``generator`` is not a Generator

    >>> own = lamella.Generator().manual_seed(3)
    >>> before = lamella.get_rng_state()
    >>> with lamella.random.drawing_from(own):
    ...     x = lamella.rand(2)
    >>> lamella.get_rng_state() == before
    True
    >>> lamella.equal(x, lamella.rand(2, generator=lamella.Generator().manual_seed(3)))
    True
    """
    return _C._Drawing(generator)


@contextlib.contextmanager
def fork_rng(devices: Any = None, enabled: bool = True, device_type: str | None = None) -> Iterator[None]:
    """Makes the calling thread draw from copies of default generators within a block.

    The original generators are unchanged afterwards, and other threads are not affected.

    Args:
        devices: devices, or indices of devices of the kind ``device_type``, whose generators are copied besides the
            host's; None means the host's alone
        enabled: False makes the block do nothing
        device_type: the kind of device for indices; None means that of the accelerator

    >>> before = lamella.get_rng_state()
    >>> with lamella.random.fork_rng():
    ...     x = lamella.rand(1)
    >>> lamella.get_rng_state() == before
    True
    """
    with contextlib.ExitStack() as stack:
        if enabled:
            for device in (host(), *(devices or ())):
                if isinstance(device, int):
                    device = _C.device(device_type or _accelerator(), device)
                stack.enter_context(drawing_from(copy.copy(_C._default_generator(device))))
        yield


def _accelerator() -> str:
    found = current_accelerator()
    if found is None:
        raise RuntimeError("fork_rng: argument 'devices' has an index, and there is no accelerator; give device_type")
    return found.type
