"""Copies, pickles and exports of tensors that require grad."""

import copy
import io
import pickle
import warnings

import lamella
import numpy as np
import pytest
from arrays import leaf
from lamella.nn.utils import prune


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_hold_requires_grad(protocol):
    x, tied = leaf(), lamella.ones(2)
    x.sum().backward()
    x.note = [tied]
    y = pickle.loads(pickle.dumps(x, protocol))
    assert y.requires_grad and y.is_leaf and y.grad is None and y.tolist() == [1, 2] and y.note[0].tolist() == [1, 1]
    assert not pickle.loads(pickle.dumps(tied, protocol)).requires_grad
    y.sum().backward()
    assert y.grad.tolist() == [1, 1] and x.grad.tolist() == [1, 1]


def test_a_pickle_of_a_result_is_a_leaf():
    y = pickle.loads(pickle.dumps(leaf() * 2))
    assert y.requires_grad and y.is_leaf and y.tolist() == [2, 4]


def test_copies():
    x = leaf()
    x.sum().backward()
    x.me = x
    y = copy.deepcopy(x)
    assert y.requires_grad and y.is_leaf and y.me is y
    assert y.grad.tolist() == [1, 1] and y.grad is not x.grad
    with lamella.no_grad():
        y.add_(1)
        y.grad.add_(1)
    assert x.tolist() == [1, 2] and x.grad.tolist() == [1, 1]
    shallow = copy.copy(x)
    assert shallow.requires_grad and shallow.is_leaf and shallow.data_ptr() == x.data_ptr()
    assert not copy.deepcopy(lamella.ones(1)).requires_grad


def test_deep_copies_share_what_was_shared():
    x = lamella.arange(4.0)
    views = [x[:2].requires_grad_(), x[2:].requires_grad_(), x]
    first, second, whole = copy.deepcopy(views)
    with lamella.no_grad():
        whole.zero_()
    assert first.tolist() == second.tolist() == [0, 0] and views[0].tolist() == [0, 1]
    assert first.requires_grad and second.requires_grad and not whole.requires_grad


def test_results_are_not_copied_deeply():
    with pytest.raises(RuntimeError, match="has a history, which is not copied"):
        copy.deepcopy(leaf() * 2)
    assert copy.deepcopy((leaf() * 2).detach()).tolist() == [2, 4]


def test_subclasses():
    class Named(lamella.Tensor):
        pass

    x = Named(lamella.ones(2)).requires_grad_()
    x.name = "x"
    y = copy.deepcopy(x)
    assert type(y) is Named and y.name == "x" and y.requires_grad


def test_a_shallow_copy_of_a_leaf_with_a_setstate():
    class Stateful(lamella.Tensor):
        def __setstate__(self, state):
            self.got = state

    x = Stateful(lamella.ones(2)).requires_grad_()
    x.k = 1
    x.sum().backward()
    for y in (copy.copy(x), copy.deepcopy(x)):
        assert y.__dict__ == {"got": {"k": 1}} and y.requires_grad and y.is_leaf
    assert copy.copy(x).grad is None and y.grad.tolist() == [1, 1] and y.grad is not x.grad


def test_values_can_be_read_where_nobody_differentiates(host):
    """requires_grad is left out, and a warning says so."""
    x = leaf()
    x.note = "kept"
    program = """
        import pickle, sys, warnings
        import lamella

        with warnings.catch_warnings(record=True) as said:
            x = pickle.loads(bytes.fromhex(sys.argv[1]))
        assert x.tolist() == [1, 2] and x.note == "kept"
        print([str(w.message) for w in said])
        """
    said = host.run(program, pickle.dumps(x).hex(), LAMELLA_PLUGINS="cpu")
    assert "without its 'requires_grad'" in said, said
    assert host.run(program, pickle.dumps(x).hex()) == "[]\n"


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda h: pickle.loads(pickle.dumps(h))])
def test_a_copied_handle_leaves_the_hook_alone(again):
    x = leaf()
    handle = x.register_hook(lambda g: g * 10)
    again(handle).remove()
    x.sum().backward()
    assert x.grad.tolist() == [10, 10]


EXPORTS = {
    "numpy": lambda t: t.numpy(),
    "asarray": np.asarray,
    "array": np.array,
    "memoryview": memoryview,
    "write": lambda t: io.BytesIO().write(t),
    "dlpack": lambda t: t.__dlpack__(),
    "np.from_dlpack": np.from_dlpack,
    "from_dlpack": lamella.from_dlpack,
    "from_numpy": lambda t: np.add(np.ones(2), t.numpy()),
}


@pytest.mark.parametrize("export", EXPORTS)
def test_memory_that_a_derivative_depends_on_is_not_given_away(export):
    give = EXPORTS[export]
    for x in (leaf(), leaf() * 2, leaf()[:]):
        with pytest.raises(RuntimeError, match="requires grad.*detach"):
            give(x)
        with lamella.no_grad(), pytest.raises(RuntimeError, match="requires grad"):
            give(x)
        give(x.detach())


@pytest.mark.parametrize("export", [e for e in EXPORTS if e != "from_numpy"])
def test_a_view_that_nobody_looked_at_since_its_base_was_written_is_not_given_away(export):
    base = lamella.zeros(3)
    view = base[1:]
    base[:2].mul_(lamella.ones(2, requires_grad=True))
    with pytest.raises(RuntimeError, match="requires grad.*detach"):
        EXPORTS[export](view)


def test_values_can_be_had_nevertheless():
    x = leaf()
    assert x.numpy(force=True).tolist() == x.tolist() == [1, 2]
    assert repr(x) == "tensor([1., 2.], requires_grad=True)"
    assert x.sum().item() == float(x.sum()) == 3
    with lamella.autograd.graph.saved_tensors_hooks(lambda t: t.numpy(), lamella.from_numpy):
        y = (x * x.exp()).sum()
    y.backward()
    assert x.grad is not None


def held(name):
    linear = lamella.nn.Linear(2, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            "WeightNorm": lambda: lamella.nn.utils.weight_norm(linear),
            "SpectralNorm": lambda: lamella.nn.utils.spectral_norm(linear),
            "RandomUnstructured": lambda: prune.random_unstructured(linear, "weight", 0.5),
        }[name]()


@pytest.mark.parametrize("hook", ["WeightNorm", "SpectralNorm", "RandomUnstructured"])
def test_a_module_whose_hook_computes_an_attribute_is_named_with_the_way_out(hook):
    net = lamella.nn.Sequential(lamella.nn.Linear(2, 2), held(hook))
    net(lamella.ones(1, 2))
    words = (
        r"deepcopy: attribute 'weight' of Linear\(in_features=2, out_features=3, bias=True\) has a history, which is "
        rf"not copied; the hook {hook} computes it before each call: take that off first, by nn\.utils\.remove_weight"
    )
    with pytest.raises(RuntimeError, match=words):
        copy.deepcopy(net)
    utils = lamella.nn.utils
    off = {"WeightNorm": utils.remove_weight_norm, "SpectralNorm": utils.remove_spectral_norm}.get(hook, prune.remove)
    off(net[1], "weight")
    assert lamella.equal(copy.deepcopy(net)[1].weight, net[1].weight)


def test_a_module_with_an_attribute_of_its_own_that_has_a_history():
    net = lamella.nn.Linear(2, 3)
    net.scale = net.weight.sum()
    with pytest.raises(RuntimeError, match=r"attribute 'scale' of Linear\(.*\) has a history.*; store its detach\(\)"):
        copy.deepcopy(lamella.nn.Sequential(net))


def test_the_way_out_of_the_message_is_one():
    net = lamella.nn.Sequential(lamella.nn.utils.parametrizations.weight_norm(lamella.nn.Linear(2, 3)))
    net(lamella.ones(1, 2))
    assert lamella.equal(copy.deepcopy(net)(lamella.ones(1, 2)), net(lamella.ones(1, 2)))
