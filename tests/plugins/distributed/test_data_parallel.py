"""DistributedDataParallel: parameters against those of one process with the same batches, and between ranks."""

import os
import signal
import time

import lamella
import lamella.distributed as dist
import numpy as np
import pytest
from lamella import nn
from ranks import run


@pytest.fixture(params=[True, False], ids=["shared memory", "engine"])
def shared(request):
    """Whether data moves by shared memory, or by the engine alone."""
    return request.param


def trained(rank, size):
    from lamella import nn

    F = nn.functional

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(1, 4, 3)
            self.norm = nn.GroupNorm(2, 4)
            self.hidden = nn.Linear(4 * 6 * 6, 300)
            self.out = nn.Linear(300, 10)
            self.wide = nn.Parameter(lamella.full((3,), 0.5, dtype=lamella.float64))
            self.frozen = nn.Parameter(lamella.ones(2), requires_grad=False)
            self.never = nn.Linear(2, 2)

        def forward(self, x):
            x = F.relu(self.norm(self.conv(x)))
            return self.out(F.relu(self.hidden(x.flatten(1)))) * self.wide.mean().float()

    def made(seed):
        lamella.manual_seed(seed)
        net = Net()
        net.conv.to(memory_format=lamella.channels_last)
        return net

    def same_on_all(tensor):
        rows = lamella.zeros(size, tensor.numel(), dtype=tensor.dtype)
        dist.all_gather_into_tensor(rows, tensor.detach().contiguous().view(-1))
        return bool((rows == rows[0]).all())

    rng = np.random.default_rng(0)
    batches = [(rng.standard_normal((4 * size, 1, 8, 8)).astype("float32"), rng.integers(0, 10, 4 * size))]
    batches += [(b + 0.1 * i, t) for i in range(1, 6) for b, t in batches[:1]]
    for options in ({}, {"bucket_cap_mb": 0.01}, {"bucket_cap_mb": 0, "find_unused_parameters": True}):
        one, many = made(0), nn.parallel.DistributedDataParallel(made(rank), **options)
        steps = [lamella.optim.SGD(n.parameters(), lr=0.05, momentum=0.9) for n in (one, many)]
        for images, labels in batches:
            x, y = lamella.from_numpy(images), lamella.from_numpy(labels)
            F.cross_entropy(one(x), y).backward()
            F.cross_entropy(many(x[rank::size]), y[rank::size]).backward()
            for step in steps:
                step.step()
                step.zero_grad()
        buckets = 0
        while many.reducer.bucket(buckets):
            buckets += 1
        assert buckets == 2 if not options else buckets > 2
        for (name, p), q in zip(one.named_parameters(), many.module.parameters(), strict=True):
            np.testing.assert_allclose(q.detach().numpy(), p.detach().numpy(), rtol=1e-5, atol=1e-6, err_msg=name)
            assert same_on_all(q), name
        assert many.module.never.weight.grad is None


def used_by_one(rank, size):
    from lamella import nn

    net = nn.ModuleDict({"all": nn.Linear(3, 3), "one": nn.Linear(3, 3), "never": nn.Linear(3, 3)})
    net.forward = lambda x: net["all"](x) if rank else net["one"](net["all"](x))
    ddp = nn.parallel.DistributedDataParallel(net)
    for step in range(3):
        ddp(lamella.full((2, 3), rank + 1.0)).sum().backward()
        assert net["never"].weight.grad is None
        np.testing.assert_allclose(net["one"].bias.grad.numpy(), 2.0 * (step + 1) / size, rtol=1e-6)


def accumulated(rank, size):
    from lamella import nn

    net = nn.Linear(2, 1, bias=False)
    ddp = nn.parallel.DistributedDataParallel(net)
    mean = sum(range(1, size + 1)) / size
    x = lamella.full((1, 2), rank + 1.0)
    for clear in (True, False):
        with ddp.no_sync():
            ddp(x).sum().backward()
            ddp(x).sum().backward()
        assert net.weight.grad.tolist() == [[2 * (rank + 1.0)] * 2]
        ddp(x).sum().backward()
        assert net.weight.grad.tolist() == [[3 * mean] * 2], net.weight.grad
        y = ddp(x).sum() + ddp(2 * x).sum()  # two forwards, one backward
        net.zero_grad(set_to_none=clear)
        y.backward()
        assert net.weight.grad.tolist() == [[3 * mean] * 2]
        net.zero_grad(set_to_none=clear)
    with lamella.no_grad():
        ddp(x)
    ddp.eval()(x).sum().backward()
    assert net.weight.grad.tolist() == [[mean] * 2]


def hooks(rank, size):
    from lamella import nn
    from lamella.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook

    def made():
        lamella.manual_seed(0)
        return nn.Sequential(nn.Linear(6, 40), nn.Tanh(), nn.Linear(40, 30), nn.Tanh(), nn.Linear(30, 2))

    def step(net, seed):
        net.zero_grad()
        x = np.random.default_rng(seed).standard_normal((4 * size, 6)).astype("float32")
        net(lamella.from_numpy(x)[rank::size]).square().mean().backward()
        return [p.grad.numpy().copy() for p in net.parameters()]

    plain = nn.parallel.DistributedDataParallel(made())
    want = [step(plain, seed) for seed in range(4)]
    state = powerSGD_hook.PowerSGDState(
        None, matrix_approximation_rank=40, start_powerSGD_iter=2, min_compression_rate=0
    )
    narrow = powerSGD_hook.PowerSGDState(
        None, matrix_approximation_rank=40, start_powerSGD_iter=2, min_compression_rate=0
    )
    seen = []

    def own(state, bucket):
        seen.append((state, bucket.index(), bucket.is_last(), len(bucket.gradients()), bucket.buffer().dim()))
        assert all(p.shape == g.shape for p, g in zip(bucket.parameters(), bucket.gradients(), strict=True))
        return dist.all_reduce(bucket.buffer(), async_op=True).get_future().then(lambda f: f.value()[0] / size)

    for hook, given, tolerance in (
        (default_hooks.allreduce_hook, None, 0),
        (default_hooks.fp16_compress_hook, None, 2e-3),
        (default_hooks.bf16_compress_hook, None, 2e-2),
        (default_hooks.bf16_compress_wrapper(default_hooks.allreduce_hook), None, 2e-2),
        (default_hooks.bf16_compress_wrapper(powerSGD_hook.powerSGD_hook), narrow, 5e-2),
        (powerSGD_hook.powerSGD_hook, state, 1e-4),
        (own, "mine", 1e-6),
    ):
        net = nn.parallel.DistributedDataParallel(made(), bucket_cap_mb=0.005)
        net.register_comm_hook(given, hook)
        for seed in range(4):
            for got, expected in zip(step(net, seed), want[seed], strict=True):
                np.testing.assert_allclose(got, expected, atol=tolerance * np.abs(expected).max(), rtol=tolerance)
        try:
            net.register_comm_hook(None, own)
        except RuntimeError as e:
            assert "there is a hook already" in str(e)
        else:
            raise AssertionError("no error")
    assert {s[0] for s in seen} == {"mine"} and sum(s[2] for s in seen) == 4 and len(seen) >= 8
    low = powerSGD_hook.PowerSGDState(None, start_powerSGD_iter=2)  # of rank 1: what is lost comes later
    net = nn.parallel.DistributedDataParallel(made())
    net.register_comm_hook(low, powerSGD_hook.powerSGD_hook)
    total = [sum(g) for g in zip(*(step(net, seed % 2) for seed in range(60)), strict=True)]
    exact = [30 * (a + b) for a, b in zip(want[0], want[1], strict=True)]
    for got, expected in zip(total, exact, strict=True):
        np.testing.assert_allclose(got, expected, atol=0.1 * np.abs(expected).max())


def uneven(rank, size):
    from lamella import nn

    net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3, momentum=0.5), nn.Linear(3, 1))
    ddp = nn.parallel.DistributedDataParallel(net)
    step = lamella.optim.SGD(ddp.parameters(), lr=0.1)
    lamella.manual_seed(rank)
    counted = 0
    with ddp.join():
        for _ in range(2 + 3 * rank):
            step.zero_grad()
            ddp(lamella.randn(4, 2)).square().mean().backward()
            step.step()
            counted += 1
    assert counted == 2 + 3 * rank
    for t in [*net.parameters(), *net.buffers()]:
        rows = lamella.zeros(size, t.numel(), dtype=t.dtype)
        dist.all_gather_into_tensor(rows, t.detach().reshape(-1))
        assert (rows == rows[0]).all()
    with ddp.join():  # some forwards without buffers, or without gradients
        for i in range(3 + rank):
            with ddp.no_sync():
                ddp(lamella.randn(4, 2)).sum().backward()
            if i % 2:
                with lamella.no_grad():
                    ddp(lamella.randn(4, 2))
            ddp(lamella.randn(4, 2)).sum().backward()
    with ddp.join(throw_on_early_termination=True):
        ddp(lamella.randn(4, 2)).sum().backward()
    try:
        with ddp.join(throw_on_early_termination=True):
            for _ in range(1 + rank):
                ddp(lamella.randn(4, 2)).sum().backward()
    except RuntimeError as e:
        assert "a rank has no more batches" in str(e)
    else:
        raise AssertionError("no error")
    one = nn.Linear(1, 1, bias=False)
    ddp = nn.parallel.DistributedDataParallel(one)
    grads = []
    with ddp.join(divide_by_initial_world_size=False):
        for _ in range(1 + rank):
            one.zero_grad()
            ddp(lamella.full((1, 1), rank + 1.0)).sum().backward()
            grads.append(one.weight.grad.item())
    want = [sum(range(first + 1, size + 1)) / (size - first) for first in range(rank + 1)]
    np.testing.assert_allclose(grads, want, rtol=1e-6)


def buffers(rank, size):
    from lamella import nn

    lamella.manual_seed(rank)
    net = nn.BatchNorm1d(3)
    net.running_mean.fill_(rank + 7.0)
    ddp = nn.parallel.DistributedDataParallel(net)
    assert net.running_mean.tolist() == [7.0] * 3  # from rank 0
    ddp(lamella.randn(4, 3)).sum().backward()
    own = net.running_mean.clone()
    ddp(lamella.randn(4, 3)).sum().backward()
    rows = lamella.zeros(size, 3)
    dist.all_gather_into_tensor(rows, own)
    assert not (rows == rows[0]).all()
    ddp.eval()  # an evaluation takes them once, however many batches a rank has
    with lamella.no_grad():
        for _ in range(1 + rank):
            ddp(lamella.randn(4, 3))
    ddp.train()
    dist.all_reduce(lamella.ones(1))
    net.running_mean = net.running_mean + rank  # another tensor
    ddp(lamella.randn(4, 3)).sum().backward()
    ddp.eval()
    ddp(lamella.randn(4, 3))
    dist.all_gather_into_tensor(rows, net.running_mean)
    assert (rows == rows[0]).all()
    ddp.train()(lamella.randn(4, 3)).sum().backward()
    quiet = nn.parallel.DistributedDataParallel(nn.BatchNorm1d(3), broadcast_buffers=False)
    assert not quiet.will_sync_module_buffers() and ddp.will_sync_module_buffers()


def synchronized(rank, size):
    from lamella import nn

    for shape in ((6, 4), (4, 4, 5), (2, 4, 3, 3)):
        rng = np.random.default_rng(1)
        every = rng.standard_normal((size, *shape)) * 3 + 5
        seeds = rng.standard_normal((size, *shape))
        lamella.manual_seed(0)
        whole = {2: nn.BatchNorm1d, 3: nn.BatchNorm1d, 4: nn.BatchNorm2d}[len(shape)](4, dtype=lamella.float64)
        whole.weight.data.uniform_(0.5, 2)
        own = nn.SyncBatchNorm.convert_sync_batchnorm(whole)
        assert type(own) is nn.SyncBatchNorm
        import copy

        own = copy.deepcopy(own)
        x = lamella.from_numpy(np.concatenate(every)).requires_grad_()
        y = whole(x)
        y.backward(lamella.from_numpy(np.concatenate(seeds)))
        part = lamella.from_numpy(every[rank]).requires_grad_()
        z = own(part)
        z.backward(lamella.from_numpy(seeds[rank]))
        n = shape[0]
        np.testing.assert_allclose(z.detach().numpy(), y.detach().numpy()[rank * n : (rank + 1) * n], rtol=1e-10)
        np.testing.assert_allclose(part.grad.numpy(), x.grad.numpy()[rank * n : (rank + 1) * n], atol=1e-10)
        for t in (own.weight.grad, own.bias.grad):
            dist.all_reduce(t)
        np.testing.assert_allclose(own.weight.grad.numpy(), whole.weight.grad.numpy(), atol=1e-9)
        np.testing.assert_allclose(own.bias.grad.numpy(), whole.bias.grad.numpy(), atol=1e-9)
        np.testing.assert_allclose(own.running_mean.numpy(), whole.running_mean.numpy(), rtol=1e-10)
        np.testing.assert_allclose(own.running_var.numpy(), whole.running_var.numpy(), rtol=1e-10)


@pytest.mark.parametrize(
    "body", [trained, used_by_one, accumulated, hooks, uneven, buffers, synchronized], ids=lambda b: b.__name__
)
@pytest.mark.parametrize(
    "size, shared", [(2, True), (3, True), (2, False)], ids=["2-shared memory", "3-shared memory", "2-engine"]
)
def test_data_parallel(body, size, shared, tmp_path):
    run(body, tmp_path, size, shared_memory=shared).check()


def different_modules(rank, size):
    from lamella import nn

    for module, words in (
        (nn.Linear(2, 2 + rank), "are ('weight', (2, 2), "),
        (nn.Linear(2, 2, bias=rank > 0), "rank 0 has 1 parameters, and rank 1 has 2"),
    ):
        try:
            nn.parallel.DistributedDataParallel(module)
        except RuntimeError as e:
            assert words in str(e), e
        else:
            raise AssertionError("no error")


def failing_backward(rank, size):
    from lamella import nn

    class Fails(lamella.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            raise ValueError("the backward of this rank fails")

    first, last = nn.Linear(2, 2), nn.Linear(2, 2)
    net = nn.ModuleList([first, last])
    net.forward = lambda x: last(Fails.apply(first(x)) if rank == 1 and fails else first(x))
    fails = False
    ddp = nn.parallel.DistributedDataParallel(net)
    ddp(lamella.ones(1, 2)).sum().backward()
    fails = True
    begin = time.monotonic()
    try:
        ddp(lamella.ones(1, 2)).sum().backward()
    except (ValueError, dist.DistBackendError) as e:
        words = "the backward of this rank fails" if rank == 1 else "rank 1 (process"
        assert words in str(e), e
    else:
        raise AssertionError("no error")
    assert time.monotonic() - begin < 20, "the error came late"
    if rank == 1:
        time.sleep(2)  # it lives on
    fails = False
    try:
        ddp(lamella.ones(1, 2)).sum().backward()
    except dist.DistBackendError as e:
        assert "no more calls" in str(e), e
    else:
        raise AssertionError("no error")
    os._exit(0)


def failing_hook(rank, size):
    from lamella import nn

    def hook(state, bucket):
        future = lamella.futures.Future()
        if rank == 1:
            future.set_exception(ValueError("the hook of this rank fails"))
        else:
            future.set_result(bucket.buffer())
        return future

    ddp = nn.parallel.DistributedDataParallel(nn.Linear(2, 2))
    ddp.register_comm_hook(None, hook)
    begin = time.monotonic()
    try:
        ddp(lamella.ones(1, 2)).sum().backward()
    except (ValueError, dist.DistBackendError) as e:
        words = "the hook of this rank fails" if rank == 1 else "rank 1 (process"
        assert words in str(e), e
    else:
        raise AssertionError("no error")
    if rank == 1:
        time.sleep(2)
    assert time.monotonic() - begin < 20, "the error came late"
    os._exit(0)


def killed_in_backward(rank, size):
    from lamella import nn

    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    ddp = nn.parallel.DistributedDataParallel(net)
    ddp(lamella.ones(1, 2)).sum().backward()
    if rank == 1:
        net[1].weight.register_hook(lambda g: os.kill(os.getpid(), signal.SIGKILL))
    try:
        ddp(lamella.ones(1, 2)).sum().backward()
    except dist.DistBackendError as e:
        assert "rank 1 (process" in str(e) and "all_reduce" in str(e), e
    else:
        raise AssertionError("no error")
    os._exit(0)


@pytest.mark.parametrize("body", [different_modules, failing_backward, failing_hook], ids=lambda b: b.__name__)
def test_faults_of_data_parallel(body, shared, tmp_path):
    run(body, tmp_path, 2, limit=40, shared_memory=shared).check()


def test_a_rank_that_is_killed_in_backward(shared, tmp_path):
    outcome = run(killed_in_backward, tmp_path, 2, limit=60, shared_memory=shared)
    assert outcome.statuses == [0, -9], outcome.errors
    assert outcome.seconds < 40, "the error came late"


def test_names_and_bad_arguments(tmp_path):
    DDP = nn.parallel.DistributedDataParallel
    with pytest.raises(ValueError, match="init_process_group"):
        DDP(nn.Linear(1, 1))
    dist.init_process_group("mpi", store=dist.HashStore(), rank=0, world_size=1)
    try:
        net = DDP(nn.Linear(2, 1))
        assert isinstance(net, DDP) and list(net.state_dict()) == ["module.weight", "module.bias"]
        plain, state = nn.Linear(2, 1), net.state_dict()
        from lamella.nn.modules.utils import consume_prefix_in_state_dict_if_present

        consume_prefix_in_state_dict_if_present(state, "module.")
        plain.load_state_dict(state)
        assert (plain.weight == net.module.weight).all()
        with pytest.raises(RuntimeError, match="not needed when a module"):
            DDP(nn.ReLU())
        with pytest.raises(TypeError, match="argument 'module': expected a Module"):
            DDP(3)
        with pytest.raises(ValueError, match="device_ids"):
            DDP(plain, device_ids=[0, 1])
        with pytest.raises(NotImplementedError, match="mixed_precision"):
            DDP(plain, mixed_precision=1)
        with pytest.raises(TypeError, match="argument 'hook' must be callable"):
            net.register_comm_hook(None, 3)
        net.register_comm_hook(None, lambda state, bucket: 3)
        with pytest.raises(TypeError, match=r"must return a lamella.futures.Future, got int"):
            net(lamella.ones(1, 2)).sum().backward()
    finally:
        dist.destroy_process_group()
