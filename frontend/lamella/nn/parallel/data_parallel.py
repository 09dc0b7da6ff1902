"""DataParallel. torch's splits a call among devices; this one runs it on the only device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lamella import accelerator
from lamella._C import device as Device
from lamella.nn.modules.module import Module

__all__ = ["DataParallel", "data_parallel"]


def _devices(given: Any) -> list[Device]:
    """Returns the devices, by default all accelerators. More than one is an error."""
    found = accelerator.current_accelerator(check_available=True)
    if given is None:
        given = range(accelerator.device_count()) if found is not None else ()
    kind = found.type if found is not None else None
    devices = []
    for one in given:
        if not isinstance(one, int):
            devices.append(Device(one))
        elif kind is not None:
            devices.append(Device(kind, one))
        else:
            raise RuntimeError(f"DataParallel: there is no accelerator, and so no device {one}")
    if len(devices) > 1:
        names = ", ".join(map(str, devices))
        raise NotImplementedError(
            f"DataParallel: the devices are {names}, and a call is not split among several here; give "
            f"device_ids=[{devices[0].index or 0}], or call the module itself"
        )
    return devices


class DataParallel(Module):
    """A wrapper of a module, whose parameters are named ``module.NAME``. It calls the module on one device, or on the
    CPU.

    Raises:
        NotImplementedError: there are several devices

    >>> net = lamella.nn.DataParallel(lamella.nn.Linear(2, 1), device_ids=[])
    >>> list(net.state_dict())
    ['module.weight', 'module.bias']
    >>> net(lamella.ones(3, 2)).shape
    lamella.Size([3, 1])
    """

    def __init__(
        self, module: Module, device_ids: Sequence[Any] | None = None, output_device: Any = None, dim: int = 0
    ) -> None:
        super().__init__()
        devices = _devices(device_ids)
        self.dim = dim
        self.module = module
        self.device_ids = [d.index or 0 for d in devices]
        self.output_device = output_device if output_device is not None else self.device_ids[0] if devices else None
        if devices:
            self.src_device_obj = devices[0]
            module.to(devices[0])

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)


def data_parallel(
    module: Module,
    inputs: Any,
    device_ids: Sequence[Any] | None = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: dict[str, Any] | None = None,
) -> Any:
    """Calls a module. torch splits the call among devices; here there must be one device at most.

    >>> lamella.nn.parallel.data_parallel(lamella.nn.Identity(), lamella.ones(2), device_ids=[])
    tensor([1., 1.])
    """
    _devices(device_ids)
    arguments = inputs if isinstance(inputs, tuple) else () if inputs is None else (inputs,)
    return module(*arguments, **(module_kwargs or {}))
