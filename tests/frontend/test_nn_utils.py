"""nn.utils: values equal numpy's and scipy's; modules during and after a change."""

import copy
import math
import pickle
import warnings

import lamella
import numpy as np
import pytest
import scipy.linalg
from arrays import numbers
from lamella import nn
from lamella.nn import utils
from lamella.nn.utils import parametrizations, parametrize, prune

pytestmark = pytest.mark.needs("autograd")


def close(a, b, tolerance=1e-10):
    a = a.detach().numpy() if isinstance(a, lamella.Tensor) else a
    b = b.detach().numpy() if isinstance(b, lamella.Tensor) else b
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


# ---- gradients -------------------------------------------------------------------------------------------------------


def with_grads(*grads):
    made = []
    for grad in grads:
        p = nn.Parameter(lamella.zeros(grad.shape, dtype=grad.dtype))
        p.grad = grad
        made.append(p)
    return [*made, nn.Parameter(lamella.zeros(2))]  # the last parameter has no gradient


@pytest.mark.parametrize("order", [2.0, 1, 3.5, float("inf"), "inf"])
def test_the_norm_of_all_gradients_is_bounded(order):
    grads = [numbers(3, 2), numbers(4, seed=1), numbers(seed=2)]
    flat = np.concatenate([g.numpy().ravel() for g in grads])
    norm = np.linalg.norm(flat, float(order))
    params = with_grads(*(g.clone() for g in grads))
    close(utils.get_total_norm(grads, order), norm)
    close(utils.clip_grad_norm_(iter(params), norm / 2, order), norm)
    for p, g in zip(params, grads, strict=False):
        close(p.grad, g.numpy() * (norm / 2) / (norm + 1e-6))
    kept = [p.grad.clone() for p in params[:3]]
    utils.clip_grad_norm_(params, norm, order, foreach=True)  # small gradients are not clipped
    for p, g in zip(params, kept, strict=False):
        close(p.grad, g)


def test_norms_that_are_not_finite():
    [p, _] = with_grads(lamella.tensor([float("nan"), 1.0]))
    with pytest.raises(RuntimeError, match="norm of order 2.0"):
        utils.clip_grad_norm_(p, 1.0, error_if_nonfinite=True)
    assert bool(utils.clip_grad_norm_(p, 1.0).isnan()) and bool(p.grad.isnan().all())
    with pytest.warns(UserWarning, match="empty"):
        utils.clip_grad_norm_((q for q in ()), 1.0)
    with pytest.warns(FutureWarning):
        utils.clip_grad_norm(p, 1.0)


@pytest.mark.parametrize("bound", [-1.0, -math.inf, math.nan])
def test_bounds_that_would_turn_gradients_round(bound):
    [p, _] = with_grads(lamella.tensor([3.0, 4.0]))
    for call, name in (
        (lambda: utils.clip_grad_norm_(p, bound), "max_norm"),
        (lambda: utils.clip_grads_with_norm_(p, bound, lamella.tensor(5.0)), "max_norm"),
        (lambda: utils.clip_grad_value_(p, bound), "clip_value"),
    ):
        with pytest.raises(ValueError, match=f"argument '{name}' must be a number of 0 or more, got {bound}"):
            call()
    with pytest.raises(ValueError, match="argument 'norm_type' must be a number, got nan"):
        utils.clip_grad_norm_(p, 1.0, math.nan)
    assert p.grad.tolist() == [3.0, 4.0]
    utils.clip_grad_norm_(p, math.inf)
    assert p.grad.tolist() == [3.0, 4.0]
    utils.clip_grad_norm_(p, 0.0)
    assert p.grad.tolist() == [0.0, 0.0]


def test_elements_of_gradients_are_bounded():
    params = with_grads(lamella.tensor([-3.0, 0.5, 2.0]))
    utils.clip_grad_value_(params, 1)
    assert params[0].grad.tolist() == [-1.0, 0.5, 1.0]
    one = with_grads(lamella.tensor([3.0, 4.0]))[0]
    utils.clip_grads_with_norm_(one, 1.0, lamella.tensor(5.0))
    close(one.grad, [0.6, 0.8], 1e-6)


def test_parameters_as_a_vector_and_back():
    layer = nn.Linear(3, 2)
    vector = utils.parameters_to_vector(layer.parameters())
    assert vector.requires_grad and vector.tolist() == [*layer.weight.flatten().tolist(), *layer.bias.tolist()]
    new = lamella.arange(8.0)
    utils.vector_to_parameters(new, layer.parameters())
    assert layer.weight.tolist() == [[0, 1, 2], [3, 4, 5]] and layer.bias.tolist() == [6, 7]
    assert layer.weight.data_ptr() == new.data_ptr() and isinstance(layer.weight, nn.Parameter)
    with pytest.raises(TypeError, match="'vec' must be a Tensor, got list"):
        utils.vector_to_parameters([1.0], layer.parameters())
    with pytest.raises(TypeError, match="one device"):
        utils.parameters_to_vector([lamella.ones(1), lamella.ones(1, device="meta")])
    with pytest.raises(RuntimeError):
        utils.vector_to_parameters(lamella.ones(3), layer.parameters())


# ---- parametrizations ------------------------------------------------------------------------------------------------


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).mT

    def right_inverse(self, a):
        return a.triu()


class Exp(nn.Module):
    def forward(self, x):
        return x.exp()

    def right_inverse(self, x):
        return x.log()


class Product(nn.Module):
    def forward(self, a, b):
        return a * b

    def right_inverse(self, x):
        return x.abs(), x.sign()


def test_a_parametrized_weight():
    m = nn.Linear(3, 3)
    before = m.weight.detach().clone()
    original = m.weight
    assert parametrize.register_parametrization(m, "weight", Symmetric()) is m
    assert type(m).__name__ == "ParametrizedLinear" and isinstance(m, nn.Linear)
    assert list(m.state_dict()) == ["bias", "parametrizations.weight.original"]
    assert "weight" not in m._parameters and m.parametrizations.weight.original is original
    w = np.triu(before.numpy())
    close(m.weight, w + np.triu(w, 1).T)
    m.weight.sum().backward()
    close(original.grad, np.triu(np.full((3, 3), 2.0)) - np.eye(3))
    symmetric = lamella.ones(3, 3)
    m.weight = symmetric
    assert lamella.equal(m.weight, symmetric) and m.parametrizations.weight.original is original
    x = numbers(2, 3).float()
    close(m(x), x.numpy() @ np.ones((3, 3)) + m.bias.detach().numpy(), 1e-6)
    assert parametrize.is_parametrized(m) and parametrize.is_parametrized(m, "weight")
    assert not parametrize.is_parametrized(m, "bias") and parametrize.type_before_parametrizations(m) is nn.Linear
    parametrize.remove_parametrizations(m, "weight")
    assert type(m) is nn.Linear and m.weight is original and list(m.state_dict()) == ["bias", "weight"]
    assert lamella.equal(m.weight, symmetric) and not hasattr(m, "parametrizations")


def test_several_parametrizations_go_one_after_the_other():
    m = nn.Linear(2, 2)
    m.weight.data.abs_().add_(0.1)
    w = m.weight.detach().clone()
    parametrize.register_parametrization(m, "weight", Exp())
    close(m.weight, w, 1e-5)
    parametrize.register_parametrization(m, "weight", Symmetric())
    assert len(m.parametrizations["weight"]) == 2
    m.weight = lamella.full((2, 2), 2.0)  # triu, then log
    original = m.parametrizations.weight.original.detach().clone()
    assert np.allclose(original.numpy(), [[np.log(2)] * 2, [-np.inf, np.log(2)]])
    close(m.weight[0], [2.0, 2.0], 1e-6)
    parametrize.register_parametrization(m, "bias", Exp(), unsafe=True)
    parametrize.remove_parametrizations(m, "weight", leave_parametrized=False)
    assert lamella.equal(m.weight, original) and type(m).__name__ == "ParametrizedLinear"
    m.eval()
    late = Exp()
    parametrize.register_parametrization(m, "weight", late)
    assert not late.training


def test_a_parametrization_of_several_tensors():
    m = nn.Linear(2, 3)
    w = m.weight.detach().clone()
    parametrize.register_parametrization(m, "weight", Product())
    names = ["bias", "parametrizations.weight.original0", "parametrizations.weight.original1"]
    assert [n for n, _ in m.named_parameters()] == names and lamella.equal(m.weight, w)
    m.weight = -w
    assert lamella.equal(m.weight, -w)
    with pytest.raises(ValueError, match="2 originals"):
        parametrize.remove_parametrizations(m, "weight", leave_parametrized=False)
    parametrize.remove_parametrizations(m, "weight")
    assert lamella.equal(m.weight, -w) and isinstance(m.weight, nn.Parameter) and m.weight.requires_grad


def test_a_parametrized_buffer():
    m = nn.BatchNorm1d(2)
    parametrize.register_parametrization(m, "running_var", Exp())
    assert "parametrizations.running_var.original" in m.state_dict() and m.running_var.tolist() == [1, 1]
    assert not dict(m.parametrizations.named_parameters())


def test_copies_and_pickles_of_parametrized_modules():
    m = parametrize.register_parametrization(nn.Linear(2, 2), "weight", Symmetric())
    m.state_dict()["parametrizations.weight.original"].fill_(3.0)
    other = copy.deepcopy(m)
    assert type(other) is type(m) and lamella.equal(other.weight, m.weight)
    other.weight = lamella.zeros(2, 2)
    assert m.weight.tolist() == [[3, 3], [3, 3]] and other.weight.tolist() == [[0, 0], [0, 0]]
    nested = copy.deepcopy(nn.Sequential(m, m))
    assert nested[0] is nested[1] and nested[0] is not m
    with pytest.raises(RuntimeError, match="state_dict"):
        pickle.dumps(m)
    other.load_state_dict(m.state_dict())
    assert lamella.equal(other.weight, m.weight)
    assert m.double().weight.dtype == lamella.float64


def test_a_block_in_which_they_are_computed_once():
    m = parametrize.register_parametrization(nn.Linear(2, 2), "weight", Symmetric())
    assert m.weight is not m.weight
    with parametrize.cached():
        w = m.weight
        with parametrize.cached():
            assert m.weight is w
        assert m.weight is w
    assert m.weight is not w


class Returns(nn.Module):
    def __init__(self, value):
        super().__init__()
        self.value = value

    def forward(self, x):
        return self.value


class Backwards(nn.Module):
    def __init__(self, inverse):
        super().__init__()
        self.inverse = inverse

    def forward(self, *x):
        return x[0]

    def right_inverse(self, x):
        return self.inverse(x)


def test_parametrizations_that_do_not_fit():
    cases = [
        (Returns(1), ValueError, "must return a Tensor, got int"),
        (Returns(lamella.ones(2, 2, dtype=lamella.float64)), ValueError, "dtype lamella.float64"),
        (Returns(lamella.ones(3)), ValueError, "shape"),
        (Backwards(lambda x: 1), ValueError, "sequence of tensors, got int"),
        (Backwards(lambda x: [x, 1]), ValueError, "'int'"),
        (Backwards(lambda x: x.double()), ValueError, "keep the dtype"),
        (Backwards(lambda x: x.to("meta")), ValueError, "keep the device"),
    ]
    for module, kind, words in cases:
        m = nn.Linear(2, 2)
        with pytest.raises(kind, match=words):
            parametrize.register_parametrization(m, "weight", module)
        assert type(m) is nn.Linear and list(m.state_dict()) == ["weight", "bias"]
    m = parametrize.register_parametrization(nn.Linear(2, 2), "weight", nn.Identity())
    for module, kind, words in cases[:3]:
        with pytest.raises(kind, match=words):
            parametrize.register_parametrization(m, "weight", module)
    with pytest.raises(ValueError, match="no parameter, buffer or parametrized tensor 'nothing'"):
        parametrize.register_parametrization(m, "nothing", nn.Identity())
    with pytest.raises(RuntimeError, match="Identity has no right_inverse"):
        m.weight = lamella.ones(2, 2)
    with pytest.raises(ValueError, match="not parametrized"):
        parametrize.remove_parametrizations(m, "bias")
    with pytest.raises(ValueError, match="one at least"):
        parametrize.ParametrizationList([], lamella.ones(1))
    unsafe = parametrize.register_parametrization(nn.Linear(2, 2), "weight", Returns(lamella.ones(3)), unsafe=True)
    assert unsafe.weight.tolist() == [1, 1, 1]


def test_parametrizations_are_carried_to_another_module():
    m = parametrize.register_parametrization(nn.Linear(3, 3), "weight", Symmetric())
    parametrize.register_parametrization(m, "bias", Product())
    for name in (None, "weight"):
        other = parametrize.transfer_parametrizations_and_params(m, nn.Linear(3, 3), name)
        assert lamella.equal(other.weight, m.weight) and parametrize.is_parametrized(other, "bias") is (name is None)
        assert other.parametrizations.weight.original is m.parametrizations.weight.original
    assert lamella.equal(m.bias, parametrize.transfer_parametrizations_and_params(m, nn.Linear(3, 3)).bias)


# ---- orthogonal matrices, weight norm, spectral norm -----------------------------------------------------------------


@pytest.mark.parametrize("name", ["matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5), (1, 1), (2, 4, 3)])
@pytest.mark.parametrize("trivial", [True, False])
def test_orthogonal(name, shape, trivial):
    m = nn.Module()
    m.weight = nn.Parameter(numbers(*shape))
    start = m.weight.detach().clone()
    parametrizations.orthogonal(m, "weight", name, use_trivialization=trivial)
    w = m.weight
    tall = w if shape[-2] >= shape[-1] else w.mT
    one = np.broadcast_to(np.eye(tall.shape[-1]), (*shape[:-2], tall.shape[-1], tall.shape[-1]))
    close(tall.mT @ tall, one)
    if trivial or name == "householder":  # begins with Q of a QR whose R has a positive diagonal
        x = start if shape[-2] >= shape[-1] else start.mT
        q, r = np.linalg.qr(x.numpy())
        close(tall, q * np.sign(np.diagonal(r, axis1=-2, axis2=-1))[..., None, :])
        m.weight = w.detach()
        close(m.weight, w)
    else:
        with pytest.raises(NotImplementedError, match="no inverse"):
            m.weight = w.detach()
    original = m.parametrizations.weight.original
    if trivial:
        with lamella.no_grad():
            original += 0.1 * numbers(*shape, seed=3).tril(-1) if shape[-2] >= shape[-1] else 0
        close(m.weight.mT @ m.weight if shape[-2] >= shape[-1] else m.weight @ m.weight.mT, one)

    def value(x):  # the diagonal is fixed, since "householder" uses only its sign
        return m.parametrizations.weight[0](x.tril(-1) + x.triu(1) + original.detach().tril().triu())

    assert lamella.autograd.gradcheck(value, original.detach().clone().requires_grad_())


def test_maps_onto_orthogonal_matrices_are_what_scipy_computes():
    from lamella.nn.utils import _orthogonal as maps

    x = numbers(4, 4).numpy() * 3
    skew = np.tril(x) - np.tril(x).T
    close(maps.matrix_exp(lamella.tensor(x.tolist(), dtype=lamella.float64)), scipy.linalg.expm(skew))
    expected = np.linalg.solve(np.eye(4) - skew / 2, np.eye(4) + skew / 2)
    close(maps.cayley(lamella.tensor(x.tolist(), dtype=lamella.float64)), expected)
    big = numbers(5, 5).numpy() * 10
    close(maps.exponential(lamella.tensor(big.tolist(), dtype=lamella.float64)) / np.abs(scipy.linalg.expm(big)).max(),
          scipy.linalg.expm(big) / np.abs(scipy.linalg.expm(big)).max())  # fmt: skip
    for a in (numbers(5, 3).numpy(), (numbers(4, 4).numpy() + 1j * numbers(4, 4, seed=1).numpy())):
        (qr, tau), _ = scipy.linalg.qr(a, mode="raw")
        ours, our_tau = maps.decomposed(lamella.from_numpy(a.copy()))
        close(ours, qr)
        close(our_tau, tau)
        close(maps.nearest(lamella.from_numpy(a.copy())).mH @ maps.nearest(lamella.from_numpy(a.copy())),
              np.eye(a.shape[1]))  # fmt: skip


def test_orthogonal_of_complex_matrices_and_errors():
    m = nn.Module()
    m.weight = nn.Parameter(lamella.complex(numbers(3, 3), numbers(3, 3, seed=1)))
    parametrizations.orthogonal(m)
    close(m.weight.mH @ m.weight, np.eye(3))
    other = nn.Module()
    other.weight = nn.Parameter(lamella.complex(numbers(3, 3), numbers(3, 3)))
    with pytest.raises(ValueError, match="householder"):
        parametrizations.orthogonal(other, orthogonal_map="householder")
    layer = nn.Linear(2, 3)
    with pytest.raises(ValueError, match="orthogonal_map"):
        parametrizations.orthogonal(layer, orthogonal_map="givens")
    with pytest.raises(ValueError, match="a matrix"):
        parametrizations.orthogonal(layer, "bias")
    with pytest.raises(ValueError, match="no parameter or buffer 'w'"):
        parametrizations.orthogonal(layer, "w")
    assert list(parametrizations.orthogonal(layer).state_dict()) == [
        "bias", "parametrizations.weight.original", "parametrizations.weight.0.base"]  # fmt: skip
    with pytest.raises(ValueError, match="shape"):
        layer.weight = lamella.ones(2, 2)


@pytest.mark.parametrize("dim", [0, 1, 2, None])
@pytest.mark.parametrize("hook", [True, False])
def test_weight_norm(dim, hook):
    m = nn.Conv1d(2, 3, 4).double()
    w = m.weight.detach().numpy().copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        (utils.weight_norm if hook else parametrizations.weight_norm)(m, "weight", dim)
    axes = tuple(a for a in range(3) if a != dim)
    norm = np.sqrt((w**2).sum(axes, keepdims=dim is not None))
    names = ["bias", *(("weight_g", "weight_v") if hook else
             ("parametrizations.weight.original0", "parametrizations.weight.original1"))]  # fmt: skip
    state = m.state_dict()
    assert list(state) == names
    close(state[names[1]], norm)
    close(state[names[2]], w)
    state[names[1]].mul_(2)
    x = numbers(1, 2, 6)
    m(x)
    close(m.weight, 2 * w)
    m(x).sum().backward()
    assert all(p.grad is not None for p in m.parameters())
    if hook:
        with pytest.raises(RuntimeError, match="norm already"), warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            utils.weight_norm(m, "weight", dim)
        new = parametrizations.weight_norm(nn.Conv1d(2, 3, 4).double(), "weight", dim)
        new.load_state_dict(m.state_dict())  # the older version's state dict
        close(new.weight, 2 * w)
        utils.remove_weight_norm(m)
        assert [n for n, _ in m.named_parameters()] == ["bias", "weight"] and not m._forward_pre_hooks
        close(m(x), new(x))
        with pytest.raises(ValueError, match="has no weight norm"):
            utils.remove_weight_norm(m)
    else:
        parametrize.remove_parametrizations(m, "weight")
        close(m.weight, 2 * w)


@pytest.mark.parametrize("hook", [True, False])
def test_spectral_norm(hook):
    m = nn.Conv2d(2, 5, 3).double()
    w = m.weight.detach().numpy().copy()
    if hook:
        utils.spectral_norm(m, n_power_iterations=30)
        keys = ["bias", "weight_orig", "weight_u", "weight_v"]
        assert [n for n, _ in m.named_parameters()] == ["bias", "weight_orig"]
    else:
        parametrizations.spectral_norm(m, n_power_iterations=30)
        keys = ["bias", "parametrizations.weight.original", "parametrizations.weight.0._u",
                "parametrizations.weight.0._v"]  # fmt: skip
    assert list(m.state_dict()) == keys
    x = numbers(1, 2, 4, 4)
    for _ in range(4):
        m(x)
    sigma = np.linalg.norm(w.reshape(5, -1), 2)
    close(m.weight, w / sigma, 1e-4)
    m.eval()
    assert lamella.equal(m(x), m(x))
    m.train()
    (m(x) - 2 * m(x)).sum().backward()  # two calls, between which the singular vectors changed
    original = m.weight_orig if hook else m.parametrizations.weight.original
    assert original.grad is not None
    other = nn.Conv2d(2, 5, 3).double().eval()
    (utils if hook else parametrizations).spectral_norm(other)
    state = m.state_dict()
    other.load_state_dict(state)
    if hook:
        assert state._metadata[""]["spectral_norm"] == {"weight.version": 1}
        with pytest.raises(RuntimeError, match="norm already"):
            utils.spectral_norm(m)
        utils.remove_spectral_norm(m)
        assert sorted(m.state_dict()) == ["bias", "weight"] and not m._forward_pre_hooks and not m._state_dict_hooks
        assert not m._load_state_dict_pre_hooks
        m.load_state_dict(m.state_dict())
        with pytest.raises(ValueError, match="no spectral norm"):
            utils.remove_spectral_norm(m)
    close(m.eval()(x), other(x))
    with pytest.raises(ValueError, match="positive"):
        (utils if hook else parametrizations).spectral_norm(nn.Linear(2, 2), n_power_iterations=0)


@pytest.mark.parametrize("shape", [(3, 5), (5, 3)])
def test_spectral_norm_of_the_first_version(shape):
    """The first version's state dicts had the weight, and no right singular vector."""
    w, sigma = numbers(*shape), 3.0
    u = numbers(shape[0], seed=1)
    u = u / u.norm()
    m = utils.spectral_norm(nn.Linear(shape[1], shape[0], bias=False).double()).eval()
    m.load_state_dict({"weight_orig": w, "weight": w / sigma, "weight_u": u})
    v = np.linalg.pinv(w.numpy()) @ u.numpy()
    close(m.weight_v, v * sigma / (u.numpy() @ w.numpy() @ v))
    m(numbers(2, shape[1]))
    close(m.weight, w / sigma)
    with pytest.raises(RuntimeError, match="weight_u"):
        m.load_state_dict({"weight_orig": w, "weight": w})


def test_spectral_norm_of_a_vector():
    m = parametrizations.spectral_norm(nn.Linear(2, 3), "bias")
    close(m.bias.norm(), 1.0, 1e-6)
    with pytest.raises(IndexError, match="from -2 to 1"):
        parametrizations.spectral_norm(m, "weight", dim=2)


# ---- pruning ---------------------------------------------------------------------------------------------------------


def test_pruning_by_values():
    m = nn.Linear(3, 2)
    w = m.weight.detach().numpy().copy()
    kept = np.abs(w) > np.sort(np.abs(w).ravel())[1]
    assert prune.l1_unstructured(m, "weight", 2) is m
    assert [n for n, _ in m.named_parameters()] == ["bias", "weight_orig"] and prune.is_pruned(nn.Sequential(m))
    assert (m.weight_mask.numpy() == kept).all() and (m.weight.detach().numpy() == w * kept).all()
    close(m(lamella.eye(3)), (w * kept).T + m.bias.detach().numpy(), 1e-6)
    m(lamella.ones(1, 3)).sum().backward()
    assert (m.weight_orig.grad.numpy() == kept).all()
    prune.l1_unstructured(m, "weight", 0.5)  # prunes half of the four remaining
    order = np.sort(np.abs(w).ravel())
    assert (m.weight_mask.numpy() == (np.abs(w) > order[3])).all() and len(m._forward_pre_hooks) == 1
    [hook] = m._forward_pre_hooks.values()
    assert isinstance(hook, prune.PruningContainer) and len(hook) == 2 and hook[0].amount == 2
    back = pickle.loads(pickle.dumps(m))
    assert lamella.equal(back(lamella.ones(1, 3)), m(lamella.ones(1, 3)))
    assert prune.remove(m, "weight") is m and [n for n, _ in m.named_parameters()] == ["bias", "weight"]
    assert not m._forward_pre_hooks and (m.weight.detach().numpy() == w * (np.abs(w) > order[3])).all()
    assert not prune.is_pruned(m)
    with pytest.raises(ValueError, match="not pruned"):
        prune.remove(m, "weight")


def test_pruning_by_scores_and_masks():
    m = prune.l1_unstructured(nn.Linear(2, 2), "weight", 1, importance_scores=lamella.tensor([[4.0, 3.0], [-1.0, 2.0]]))
    assert m.weight_mask.tolist() == [[1, 1], [0, 1]]
    prune.custom_from_mask(m, "weight", lamella.tensor([[1, 0], [1, 1]]))
    assert m.weight_mask.tolist() == [[1, 0], [0, 1]]
    prune.identity(m, "weight")
    assert m.weight_mask.tolist() == [[1, 0], [0, 1]]


def test_pruning_of_slices():
    m = nn.Conv2d(2, 4, 3)
    w = m.weight.detach().numpy()
    for n, order in ((1, 1), (2, 2), (float("inf"), np.inf)):
        other = prune.ln_structured(copy.deepcopy(m), "weight", 0.5, n=n, dim=0)
        norms = np.linalg.norm(w.reshape(4, -1), order, axis=1)
        assert (other.weight_mask.sum((1, 2, 3)).numpy() == 18 * (norms > np.sort(norms)[1])).all()
    prune.random_structured(m, "weight", 1, dim=1)
    assert sorted(m.weight_mask.sum((0, 2, 3)).tolist()) == [0, 36]
    prune.random_structured(m, "weight", 1, dim=1)
    assert m.weight_mask.sum().item() == 0
    linear = prune.random_unstructured(nn.Linear(10, 10), "weight", 0.3)
    prune.ln_structured(linear, "weight", 3, n=2, dim=-1)
    assert (linear.weight_mask.sum(0) == 0).sum().item() == 3
    prune.random_unstructured(linear, "weight", 0.5)
    assert linear.weight_mask.sum().item() < 40


def test_pruning_of_several_parameters_together():
    net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 2))
    pairs = [(net[0], "weight"), (net[1], "weight")]
    prune.l1_unstructured(net[0], "weight", 2)
    before = net[0].weight_mask.clone()
    values = np.abs(np.concatenate([m.weight.detach().numpy().ravel() for m, _ in pairs]))
    left = values[np.concatenate([before.numpy().ravel(), np.ones(6)]) == 1]
    prune.global_unstructured(pairs, prune.L1Unstructured, amount=5)
    masks = np.concatenate([m.weight_mask.numpy().ravel() for m, _ in pairs])
    assert (masks == (values > np.sort(left)[4])).all()
    with pytest.raises(TypeError, match="unstructured"):
        prune.global_unstructured(pairs, prune.LnStructured, amount=1, n=2)
    with pytest.raises(TypeError, match="must be pairs"):
        prune.global_unstructured(1, prune.L1Unstructured, amount=1)
    with pytest.raises(TypeError, match="must be a dict"):
        prune.global_unstructured(pairs, prune.L1Unstructured, [1], amount=1)


def test_pruning_that_cannot_be():
    for amount, kind in (("a", TypeError), (-1, ValueError), (1.5, ValueError), (-0.1, ValueError)):
        with pytest.raises(kind, match="'amount'"):
            prune.RandomUnstructured(amount)
    m = nn.Linear(2, 2)
    for call, kind in (
        (lambda: prune.l1_unstructured(m, "weight", 5), ValueError),
        (lambda: prune.ln_structured(m, "bias", 1, 2, 0), ValueError),
        (lambda: prune.random_structured(m, "weight", 1, 2), IndexError),
        (lambda: prune.l1_unstructured(m, "weight", 1, lamella.ones(3)), AssertionError),
        (lambda: prune.custom_from_mask(m, "weight", lamella.ones(3)), AssertionError),
    ):
        with pytest.raises(kind):
            call()
        assert list(m.state_dict()) == ["weight", "bias"] and not m._forward_pre_hooks
    container = prune.PruningContainer()
    with pytest.raises(TypeError):
        container.add_pruning_method(1)
    other = prune.Identity()
    other._tensor_name = "weight"
    with pytest.raises(ValueError, match="'weight'"):
        container.add_pruning_method(other)


# ---- other functions -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("bias", [True, False])
def test_fused_batch_norms(affine, bias):
    x = numbers(3, 4, 6, 6)
    conv = nn.Conv2d(4, 6, 3, bias=bias).double()
    bn = nn.BatchNorm2d(6, affine=affine).double()
    bn(conv(x))
    with pytest.raises(AssertionError, match="evaluation"):
        utils.fuse_conv_bn_eval(conv, bn)
    conv.eval(), bn.eval()
    fused = utils.fuse_conv_bn_eval(conv, bn)
    close(fused(x), bn(conv(x)))
    assert type(fused) is nn.Conv2d and isinstance(fused.bias, nn.Parameter) and (conv.bias is not None) is bias
    w, b = utils.fuse_conv_bn_weights(
        conv.weight.transpose(0, 1), conv.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, True
    )
    close(w, fused.weight.transpose(0, 1))
    close(b, fused.bias)
    linear, norm = nn.Linear(4, 6, bias=bias).double(), nn.BatchNorm1d(6).double()
    norm(linear(numbers(5, 4)))
    linear.eval(), norm.eval()
    close(utils.fuse_linear_bn_eval(linear, norm)(numbers(5, 4)), norm(linear(numbers(5, 4))))
    with pytest.raises(AssertionError, match="6 features"):
        utils.fuse_linear_bn_eval(linear, nn.BatchNorm1d(4).eval())
    with pytest.raises(AssertionError, match="no running"):
        utils.fuse_linear_bn_eval(linear, nn.BatchNorm1d(6, track_running_stats=False).eval())


def test_skip_init():
    m = utils.skip_init(nn.Linear, 3, 2, bias=False, dtype=lamella.float64)
    assert m.weight.shape == (2, 3) and m.weight.dtype == lamella.float64 and m.weight.device.type == "cpu"
    assert utils.skip_init(nn.Linear, 3, 2, device="meta").weight.is_meta
    for cls in (int, nn.ReLU):
        with pytest.raises(RuntimeError, match="skip_init"):
            utils.skip_init(cls)


def test_memory_formats_of_weights():
    net = nn.Sequential(nn.Conv2d(3, 4, 2), nn.Sequential(nn.Conv2d(4, 5, 2)), nn.Linear(1, 1))
    x = numbers(1, 3, 5, 5).float()
    before = net[0](x).detach().clone()
    assert utils.convert_conv2d_weight_memory_format(net, lamella.channels_last) is net
    assert all(net[i].weight.is_contiguous(memory_format=lamella.channels_last) for i in (0,))
    assert net[1][0].weight.stride() == (16, 1, 8, 4) and isinstance(net[0].weight, nn.Parameter)
    close(net[0](x), before, 1e-5)


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 2, bias=False)
        self.b = nn.Linear(2, 2, bias=False)
        self.b.weight = self.a.weight
        self.register_buffer("calls", lamella.zeros(1))

    def forward(self, x, *, times=1):
        self.calls = self.calls + 1
        return self.b(self.a(x)) * times


def test_a_call_with_other_parameters():
    m, x = Tied(), lamella.ones(1, 2)
    own = m.a.weight
    two = 2 * lamella.eye(2)
    given = {"a.weight": two, "calls": lamella.zeros(1)}
    assert lamella.func.functional_call(m, given, (x,), {"times": 3}).tolist() == [[12, 12]]
    assert m.a.weight is own and m.b.weight is own and m.calls.item() == 0 and given["calls"].item() == 1
    got = lamella.func.functional_call(m, [{"a.weight": two}, {"b.weight": two}], x, strict=False)
    assert got.tolist() == [[4, 4]]
    with pytest.raises(ValueError, match="tie_weights=False"):
        lamella.func.functional_call(m, {"a.weight": two, "b.weight": two + 1}, x)
    got = lamella.func.functional_call(m, {"a.weight": two, "b.weight": 2 * two}, x, tie_weights=False)
    assert got.tolist() == [[8, 8]] and m.b.weight is own
    with pytest.raises(ValueError, match="several dicts"):
        lamella.func.functional_call(m, [{"a.weight": two}, {"a.weight": two}], x)
    with pytest.raises(RuntimeError, match="missing.*calls"):
        lamella.func.functional_call(m, {"a.weight": two}, x, strict=True)
    with pytest.raises(RuntimeError, match="unexpected.*'c'"):
        lamella.func.functional_call(m, {"a.weight": two, "calls": lamella.zeros(1), "c": two}, x, strict=True)
    with pytest.raises(TypeError, match="Tensor"):
        lamella.func.functional_call(m, {"a.weight": 1}, x)
    with pytest.raises(ValueError, match="dict"):
        lamella.func.functional_call(m, 1, x)
    assert m.a.weight is own
    with pytest.warns(FutureWarning):
        assert utils.stateless.functional_call(m, {"a.weight": two}, x).tolist() == [[4, 4]]


def test_gradients_of_a_call_with_other_parameters():
    layer, x = nn.Linear(2, 1).double(), numbers(3, 2)
    params = {n: p.detach().clone().requires_grad_() for n, p in layer.named_parameters()}
    lamella.func.functional_call(layer, params, x).sum().backward()
    close(params["weight"].grad, x.numpy().sum(0, keepdims=True))
    assert layer.weight.grad is None


def test_states_of_several_models():
    models = [nn.BatchNorm1d(2) for _ in range(3)]
    params, buffers = lamella.func.stack_module_state(models)
    assert params["weight"].shape == (3, 2) and params["weight"].requires_grad and params["weight"].is_leaf
    assert buffers["num_batches_tracked"].tolist() == [0, 0, 0]
    for wrong in ([], [nn.Linear(1, 1), nn.ReLU()], [nn.Linear(1, 1), nn.Linear(1, 1).eval()],
                  [nn.Linear(1, 1), nn.Linear(1, 1).requires_grad_(False)]):  # fmt: skip
        with pytest.raises(RuntimeError, match="stack_module_state"):
            lamella.func.stack_module_state(wrong)


def test_data_parallel():
    net = nn.DataParallel(nn.Linear(2, 1), device_ids=["cpu"])
    x = lamella.ones(3, 2)
    assert lamella.equal(net(x), net.module(x)) and list(net.state_dict()) == ["module.weight", "module.bias"]
    assert nn.parallel.DataParallel is nn.DataParallel
    with pytest.raises(NotImplementedError, match="not split among several"):
        nn.DataParallel(nn.Linear(2, 1), device_ids=["cpu", "meta"])
    with pytest.raises(AttributeError, match="not here yet"):
        nn.parallel.replicate  # noqa: B018
    assert not isinstance(net, nn.parallel.DistributedDataParallel)
    with pytest.raises(ValueError, match=r"please make sure to call init_process_group"):
        nn.parallel.DistributedDataParallel(net)
