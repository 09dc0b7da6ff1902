"""Types of devices, by the names that programs give: whether this machine has them."""

from types import ModuleType

import lamella


def reason_of_absence(device_type: str) -> str:
    """Returns why this machine has no device of a type; an empty text if it has one, which is loaded then."""
    try:
        lamella.device(device_type)
    except RuntimeError as error:
        return str(error).partition("\n")[0]
    return ""


def check(who: str, device_type: object) -> str:
    """Returns the name of a type of device.

    Raises:
        ValueError: it is no str
        RuntimeError: no device has this name, here or elsewhere
    """
    if not isinstance(device_type, str):
        raise ValueError(f"{who}: argument 'device_type' must be str, got {type(device_type).__name__}")
    why = reason_of_absence(device_type)
    if why and not isinstance(getattr(lamella, device_type, None), ModuleType):
        raise RuntimeError(f"{who}: argument 'device_type': {why}")
    return why
