"""The names for annotations, of torch.types."""

import lamella
from lamella import types


def test_numbers_and_devices():
    assert isinstance(3, types.Number) and isinstance(2.5, types.Number) and not isinstance("3", types.Number)
    assert isinstance(lamella.device("cpu"), types.Device) and isinstance(None, types.Device)
    assert not isinstance(2.5, types.Device)
    assert types._size is lamella.Size and types._dtype is lamella.dtype and types._int is int
    assert types.Storage is lamella.UntypedStorage
