"""Gradients of each sample and ensembles of modules, against loops."""

import lamella
import pytest
from lamella import nn, vmap
from lamella.func import functional_call, grad, hessian, jacrev, jvp, stack_module_state
from lamella.testing import assert_close

F = nn.functional
DOUBLE = lamella.float64


def normal(*shape):
    return lamella.randn(*shape, dtype=DOUBLE)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(4, 12), nn.Linear(4, 1)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, 2, 2)).movedim(1, 0).transpose(1, 2).unbind(0)
        return self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(0, 1).flatten(-2)).sum()


class Words(nn.Module):
    def __init__(self, padding_idx=None):
        super().__init__()
        self.table, self.out = nn.Embedding(5, 3, padding_idx=padding_idx), nn.Linear(3, 2)

    def forward(self, i):
        return self.out(self.table(i)).tanh().sum(0)


class Recurrent(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.cell, self.lstm = kind(3, 4), kind is nn.LSTMCell

    def forward(self, x):
        state = (x.new_zeros(4), x.new_zeros(4)) if self.lstm else x.new_zeros(4)
        for step in x.unbind(0):
            state = self.cell(step, state)
        return state[0] if self.lstm else state


def convnet():
    return nn.Sequential(
        nn.Conv2d(2, 3, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(3, 4, 2, stride=2), nn.Tanh(),
        nn.Flatten(-3), nn.Linear(16, 3),
    )  # fmt: skip


def groups():
    return nn.Sequential(nn.Conv2d(2, 4, 3, groups=2, bias=False), nn.AvgPool2d(2), nn.GELU(), nn.Flatten(-3))


def batch_norm():
    net = nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.Flatten(1), nn.Linear(48, 2))
    net(lamella.randn(4, 2, 6, 6))
    return net.eval()


def transformer():
    return nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True)


NETWORKS = {
    "mlp": (lambda: nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2)), lambda: normal(4, 3)),
    "mlp on one more dimension": (lambda: nn.Sequential(nn.Linear(3, 5), nn.ReLU()), lambda: normal(4, 2, 3)),
    "convnet": (convnet, lambda: normal(4, 2, 8, 8)),
    "convnet on batches of one": (convnet, lambda: normal(4, 1, 2, 8, 8)),
    "groups": (groups, lambda: normal(4, 2, 6, 6)),
    "conv1d": (lambda: nn.Sequential(nn.Conv1d(2, 3, 2), nn.Flatten(-2)), lambda: normal(3, 2, 5)),
    "conv_transpose2d": (lambda: nn.ConvTranspose2d(2, 3, 2, stride=2), lambda: normal(3, 2, 3, 3)),
    "layer_norm": (lambda: nn.Sequential(nn.LayerNorm(3), nn.Linear(3, 2), nn.LayerNorm([2])), lambda: normal(4, 2, 3)),
    "group_norm": (lambda: nn.Sequential(nn.GroupNorm(2, 4), nn.SiLU()), lambda: normal(3, 1, 4, 5)),
    "rms_norm": (lambda: nn.RMSNorm(3, eps=1e-6), lambda: normal(4, 2, 3)),
    "batch_norm in eval": (batch_norm, lambda: normal(4, 1, 2, 6, 6)),
    "LSTMCell": (lambda: Recurrent(nn.LSTMCell), lambda: normal(3, 2, 3)),
    "GRUCell": (lambda: Recurrent(nn.GRUCell), lambda: normal(3, 2, 3)),
    "embedding": (Words, lambda: lamella.tensor([[0, 1, 1], [4, 4, 4], [2, 0, 3]])),
    "embedding with padding": (lambda: Words(1), lambda: lamella.tensor([[0, 1, 1], [4, 4, 4], [2, 0, 3]])),
    "attention": (Attention, lambda: normal(3, 5, 4)),
    "prelu": (lambda: nn.PReLU(2), lambda: normal(3, 1, 2, 4)),
    "softmax": (lambda: nn.Sequential(nn.Softmax(-1), nn.Linear(3, 2), nn.LogSoftmax(-1)), lambda: normal(4, 3)),
    "transformer layer": (transformer, lambda: normal(3, 2, 5, 4)),
}  # fmt: skip


def parts(net):
    """Returns the parameters and the buffers by name, detached."""
    return (
        {n: p.detach() for n, p in net.named_parameters()},
        {n: b.detach() for n, b in net.named_buffers()},
    )


def by_samples(net, loss, x):
    """Returns the gradients of the parameters for each sample, by a backward pass for each."""
    rows = []
    for sample in x:
        net.zero_grad(set_to_none=True)
        loss(net(sample)).backward()
        rows.append({n: p.grad.clone() for n, p in net.named_parameters()})
    return {n: lamella.stack([row[n] for row in rows]) for n in rows[0]}


def made(name):
    lamella.manual_seed(1)
    network, inputs = NETWORKS[name]
    return network().to(DOUBLE), inputs()


@pytest.mark.parametrize("name", NETWORKS)
def test_gradients_of_each_sample(name):
    net, x = made(name)
    params, buffers = parts(net)

    def loss(p, x):
        return (functional_call(net, (p, buffers), (x,)) ** 2).sum()

    expected = by_samples(net, lambda y: (y**2).sum(), x)
    found = vmap(grad(loss), (None, 0))(params, x)
    assert set(found) == set(expected)
    for n in expected:
        assert_close(found[n], expected[n])
    chunked = vmap(grad(loss), (None, 0), chunk_size=2)(params, x)
    for n in expected:
        assert_close(chunked[n], expected[n])
    if x.is_floating_point():
        by_x = vmap(grad(loss, 1), (None, 0))(params, x)
        assert_close(by_x, grad(lambda x: sum(loss(params, s) for s in x))(x))


@pytest.mark.parametrize("name", NETWORKS)
def test_ensembles(name):
    _, x = made(name)
    network = NETWORKS[name][0]
    nets = [network().to(DOUBLE) for _ in range(3)]
    params, buffers = stack_module_state(nets)

    def call(p, b, x):
        return functional_call(nets[0], (p, b), (x,))

    shared = vmap(call, (0, 0, None))(params, buffers, x[0])
    assert_close(shared, lamella.stack([net(x[0]) for net in nets]))
    samples = vmap(vmap(call, (None, None, 0)), (0, 0, None))(params, buffers, x)
    assert_close(samples, lamella.stack([lamella.stack([net(s) for s in x]) for net in nets]))
    (shared**2).sum().backward()
    for i, net in enumerate(nets):
        (net(x[0]) ** 2).sum().backward()
        for n, p in net.named_parameters():
            assert_close(params[n].grad[i], p.grad)


def test_cross_entropy_of_a_convnet():
    net, x = made("convnet")
    params, _ = parts(net)
    labels = lamella.tensor([0, 2, 1, 1])

    def loss(p, x, label):
        return F.cross_entropy(functional_call(net, p, (x[None],)), label[None])

    found = vmap(grad(loss), (None, 0, 0))(params, x, labels)
    rows = []
    for sample, label in zip(x, labels, strict=True):
        net.zero_grad()
        F.cross_entropy(net(sample[None]), label[None]).backward()
        rows.append([p.grad.clone() for p in net.parameters()])
    for n, expected in zip(params, zip(*rows, strict=True), strict=True):
        assert_close(found[n], lamella.stack(list(expected)))
    net.zero_grad()
    F.cross_entropy(net(x), labels).backward()
    for n, p in net.named_parameters():
        assert_close(found[n].mean(0), p.grad)


def test_second_derivatives_of_modules():
    net, x = made("mlp")
    params, _ = parts(net)
    vector = {n: normal(*p.shape) for n, p in params.items()}

    def loss(p, x):
        return functional_call(net, p, (x,)).pow(2).sum()

    products = vmap(lambda x: jvp(lambda p: grad(loss)(p, x), (params,), (vector,))[1])(x)
    step = 1e-4
    up, down = ({n: params[n] + sign * vector[n] for n in params} for sign in (step, -step))
    for n in params:
        slope = (vmap(grad(loss), (None, 0))(up, x)[n] - vmap(grad(loss), (None, 0))(down, x)[n]) / (2 * step)
        assert_close(products[n], slope, rtol=1e-5, atol=1e-6)
    by_input = vmap(lambda x: hessian(loss, 1)(params, x))(x)
    assert_close(by_input, lamella.stack([jacrev(grad(loss, 1), 1)(params, s) for s in x]))
    weights = net[0].weight
    assert weights.grad is None and weights.requires_grad


def test_gradients_reach_the_modules_own_parameters():
    """A module that is called as it is has gradients through vmap, and through vmap of grad."""
    net, x = made("mlp")
    vmap(net)(x).sum().backward()
    expected = [p.grad.clone() for p in net.parameters()]
    net.zero_grad()
    net(x).sum().backward()
    for p, e in zip(net.parameters(), expected, strict=True):
        assert_close(p.grad, e)
    net.zero_grad()
    (vmap(grad(lambda s: net(s).sum()))(x) ** 2).sum().backward()
    found = [lamella.zeros_like(p) if p.grad is None else p.grad.clone() for p in net.parameters()]
    net.zero_grad()
    inputs = [s.clone().requires_grad_() for s in x]
    slopes = [lamella.autograd.grad(net(s).sum(), s, create_graph=True)[0] for s in inputs]
    sum((s**2).sum() for s in slopes).backward()
    for f, p in zip(found, net.parameters(), strict=True):
        assert_close(f, lamella.zeros_like(p) if p.grad is None else p.grad)


def test_batch_norm_in_training_cannot_write_shared_statistics():
    layer = nn.BatchNorm1d(3).to(DOUBLE)
    x = normal(2, 4, 3)
    with pytest.raises(RuntimeError):
        vmap(layer)(x)
    assert (layer.running_mean == 0).all()
    layer = nn.BatchNorm1d(3, track_running_stats=False).to(DOUBLE)
    assert_close(vmap(layer)(x), lamella.stack([layer(s) for s in x]))


def test_a_step_of_training_inside_a_function():
    """The gradient through a step of gradient descent, for a batch of tasks (MAML)."""
    net, x = made("mlp")
    params, _ = parts(net)
    y = normal(4, 2)

    def task(p, x, y):
        inner = grad(lambda p: F.mse_loss(functional_call(net, p, (x,)), y))(p)
        stepped = {n: p[n] - 0.1 * inner[n] for n in p}
        return F.mse_loss(functional_call(net, stepped, (x,)), y)

    found = grad(lambda p: vmap(task, (None, 0, 0))(p, x, y).mean())(params)
    leaves = {n: p.clone().requires_grad_() for n, p in params.items()}
    total = 0
    for s, t in zip(x, y, strict=True):
        loss = F.mse_loss(functional_call(net, leaves, (s,)), t)
        slopes = lamella.autograd.grad(loss, list(leaves.values()), create_graph=True)
        stepped = {n: p - 0.1 * g for (n, p), g in zip(leaves.items(), slopes, strict=True)}
        total = total + F.mse_loss(functional_call(net, stepped, (s,)), t) / 4
    for n, g in zip(leaves, lamella.autograd.grad(total, list(leaves.values())), strict=True):
        assert_close(found[n], g)
