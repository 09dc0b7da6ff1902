"""Types of devices, by the names that programs give: whether this machine has them."""

import lamella
from lamella import Tensor


def reason_of_absence(device_type: str) -> str:
    """Returns why this machine has no device of a type; an empty text if it has one, which is loaded then."""
    try:
        lamella.device(device_type)
    except RuntimeError as error:
        return str(error).partition("\n")[0]
    return ""


def _is_device_of_torch(name: str) -> bool:
    """Returns whether Tensor has ``is_NAME`` of a device: of a known backend, or of a device that torch has."""
    return getattr(getattr(Tensor, f"is_{name}", None), "name", None) == name


def check(who: str, device_type: object) -> str:
    """Checks the name of a type of device. Returns why this machine has none of the type; an empty text if it has one.

    Raises:
        ValueError: it is no str, or has the index of a device
        RuntimeError: no device has this name, here or elsewhere
    """
    if not isinstance(device_type, str):
        raise ValueError(f"{who}: argument 'device_type' must be str, got {type(device_type).__name__}")
    kind, colon, _ = device_type.partition(":")
    if colon:
        raise ValueError(
            f"{who}: argument 'device_type' must be a type of device, without an index, got '{device_type}'; "
            f"pass '{kind}'"
        )
    why = reason_of_absence(device_type)
    if why and not _is_device_of_torch(device_type):
        raise RuntimeError(f"{who}: argument 'device_type': {why}")
    return why
