"""Names of types of devices that autocast takes: those of devices, here or elsewhere, without an index."""

import lamella
import pytest

pytestmark = pytest.mark.needs("autocast")

FUNCTIONS = {
    "autocast": lamella.autocast,
    "is_autocast_enabled": lamella.is_autocast_enabled,
    "get_autocast_dtype": lamella.get_autocast_dtype,
    "set_autocast_enabled": lambda name: lamella.set_autocast_enabled(name, True),
    "custom_fwd": lambda name: lamella.amp.custom_fwd(device_type=name),
}


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("name", ["nn", "linalg", "random", "sparse", "leaf", "contiguous", "nothing", ""])
def test_names_that_are_no_device_are_refused(function, name):
    with pytest.raises(RuntimeError, match=f"^{function}: argument 'device_type': .*no backend '{name}'"):
        FUNCTIONS[function](name)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("name", ["cpu:0", "cuda:1", "nn:0", "cpu:"])
def test_a_name_with_an_index_is_refused(function, name):
    kind = name.partition(":")[0]
    with pytest.raises(ValueError, match=f"^{function}: .*without an index, got '{name}'; pass '{kind}'$"):
        FUNCTIONS[function](name)


@pytest.mark.parametrize("name", ["cuda", "mps", "xpu", "mtia", "hpu"])
def test_a_device_that_other_machines_have_warns(name):
    if lamella.amp.is_autocast_available(name):
        pytest.skip(f"this machine has {name}")
    with pytest.warns(UserWarning, match=f"no device '{name}'"), lamella.autocast(name):
        assert not lamella.is_autocast_enabled(name)
    assert lamella.get_autocast_dtype(name) is lamella.float16
