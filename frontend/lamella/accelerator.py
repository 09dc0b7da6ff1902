"""Functions for the installed accelerator of any kind: its devices, streams, memory and random numbers.

The accelerator is the thread's default device, unless that is the host or meta; else the first of the installed
backends that can be loaded, in order of the ``priority`` of their manifests and of their names. The same functions for
the backend NAME are in ``lamella.NAME``.

>>> import lamella
>>> device = lamella.accelerator.current_accelerator(check_available=True) or lamella.device("cpu")
>>> with device:
...     x = lamella.ones(2)
>>> x.device == device
True
"""

from __future__ import annotations

from lamella._devices import current_accelerator
from lamella._devices.functions import Devices
from lamella._devices.streams import Event, Stream

__all__ = ["Event", "Stream", "current_accelerator"]


def _kind() -> str | None:
    found = current_accelerator()
    return found.type if found is not None else None


_devices = Devices(_kind)
is_available = _devices.is_available
device_count = _devices.device_count
current_device_index = _devices.current_device_index
set_device_index = _devices.set_device_index
device_index = _devices.device_index
synchronize = _devices.synchronize
current_stream = _devices.current_stream
default_stream = _devices.default_stream
set_stream = _devices.set_stream
empty_cache = _devices.empty_cache
empty_host_cache = _devices.empty_host_cache
memory_stats = _devices.memory_stats
memory_allocated = _devices.memory_allocated
max_memory_allocated = _devices.max_memory_allocated
memory_reserved = _devices.memory_reserved
max_memory_reserved = _devices.max_memory_reserved
reset_peak_memory_stats = _devices.reset_peak_memory_stats
reset_accumulated_memory_stats = _devices.reset_accumulated_memory_stats
get_memory_info = _devices.get_memory_info
get_device_name = _devices.get_device_name
get_device_properties = _devices.get_device_properties
get_device_capability = _devices.get_device_capability
default_generator = _devices.default_generator
manual_seed = _devices.manual_seed
manual_seed_all = _devices.manual_seed_all
initial_seed = _devices.initial_seed
get_rng_state = _devices.get_rng_state
set_rng_state = _devices.set_rng_state
__all__ += [name for name in dir(_devices) if not name.startswith("_") and name in globals()]
