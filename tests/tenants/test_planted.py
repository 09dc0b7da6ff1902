"""Planted defects: what loses a gradient, a dtype or the type of a saved value is reported by the tenants' checks."""

import copy
import io
import pickle
from contextlib import closing, nullcontext

import lamella
import pytest

from . import autocast, over, test_autocast, test_tracer, test_vmap_gradients, tracer, vmap

pytestmark = pytest.mark.needs("autograd")
REPORTED = (AssertionError, RuntimeError)

# ---- a layer that loses gradients or dtypes -------------------------------------------------------------------------


@pytest.fixture
def cast():
    with closing(autocast.Autocast(lamella.bfloat16)) as made:
        yield made


@pytest.mark.parametrize("planted", [False, True])
def test_a_layer_that_goes_on_without_the_keys_of_its_tensors(device, cast, monkeypatch, planted):
    """The tensors that it goes on with are none that autograd follows."""
    if planted:
        monkeypatch.setattr(autocast, "converted", lambda tensor, dtype: tensor.detach().to(dtype))
    with pytest.raises(REPORTED) if planted else nullcontext():
        test_autocast.test_a_network(device, cast, False)


@pytest.mark.parametrize("planted", [False, True])
def test_a_layer_that_computes_without_its_callers_layers(device, boxes_library, monkeypatch, planted):
    if planted:
        monkeypatch.setattr(vmap, "as_called", lambda call: nullcontext())
    with closing(vmap.Vmaps(boxes_library)) as vmaps, pytest.raises(REPORTED) if planted else nullcontext():
        test_vmap_gradients.test_gradients_on_both_sides(device, vmaps.vmap)


@pytest.mark.parametrize("planted", [False, True])
def test_a_policy_that_casts_derivatives(device, monkeypatch, planted):
    register = autocast.Library.register_layer
    if planted:
        changed = lambda self, *args, **options: register(self, *args, **options | {"not_in_backward": False})  # noqa: E731
        monkeypatch.setattr(autocast.Library, "register_layer", changed)
    with closing(autocast.Autocast(lamella.bfloat16)) as cast:
        with pytest.raises(AssertionError) if planted and device != "meta" else nullcontext():
            test_autocast.test_backward_inside_is_not_cast(device, cast)


@pytest.mark.parametrize("planted", [False, True])
def test_a_tracer_that_takes_a_saved_result_for_a_constant(device, monkeypatch, planted):
    if planted:
        by_identity = lambda self, t: self._named.get(id(t), (t, None))[1]  # noqa: E731
        monkeypatch.setattr(tracer.Tracer, "_known", by_identity)
    with pytest.raises(AssertionError) if planted else nullcontext():
        test_tracer.test_a_training(device)


# ---- a slot that loses the types of what it saves -------------------------------------------------------------------


def written(tensor):
    file = io.BytesIO()
    lamella.save(tensor, file)
    return lamella.load(io.BytesIO(file.getvalue()))


WAYS = {"file": written, "pickle": lambda t: pickle.loads(pickle.dumps(t)), "deepcopy": copy.deepcopy}
NOTES = [[1, 2.5, "x"], [lamella.float64, 3], [True, None, 2]]


def typed(value):
    """Returns a value with the types of its parts."""
    return over(lambda v: (type(v).__name__, v.tolist() if isinstance(v, lamella.Tensor) else v), value)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("planted", [False, True])
def test_a_slot_that_saves_other_types(device, notes_libraries, way, planted):
    name, library = notes_libraries[planted]
    lamella.ops.load_library(library)
    lost = []
    for note in NOTES:
        tensor = lamella.zeros(2)
        setattr(tensor, name, note)
        lost.append(typed(getattr(WAYS[way](tensor), name)) != typed(getattr(tensor, name)))
    assert any(lost) is planted
