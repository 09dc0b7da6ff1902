"""DeviceMesh, and optimizers whose states are divided between ranks."""

import lamella
import lamella.distributed as dist
import numpy as np
import pytest
from ranks import run


def mesh(rank, size):
    m = dist.init_device_mesh("cpu", (2, 2), mesh_dim_names=("replica", "shard"))
    assert (
        m.mesh.tolist() == [[0, 1], [2, 3]] and m.ndim == 2 and m.shape == (2, 2) and m.size() == 4 and m.size(1) == 2
    )
    assert m.get_coordinate() == [rank // 2, rank % 2] and m.get_rank() == rank
    assert m.get_local_rank("shard") == rank % 2 == m.get_local_rank(1) and m.get_local_rank("replica") == rank // 2
    for name, ranks in (("replica", [rank % 2, rank % 2 + 2]), ("shard", [rank // 2 * 2, rank // 2 * 2 + 1])):
        group = m.get_group(name)
        assert dist.get_process_group_ranks(group) == ranks
        x = lamella.tensor([float(rank)])
        dist.all_reduce(x, group=group)
        assert x.item() == sum(ranks)
        part = m[name]
        assert part.mesh.tolist() == ranks and part.get_group() is group and part.get_local_rank() == ranks.index(rank)
    swapped = m["shard", "replica"]
    assert swapped.mesh.tolist() == [[0, 2], [1, 3]] and swapped.get_coordinate() == [rank % 2, rank // 2]
    assert swapped.get_group("replica") is m.get_group("replica")
    assert m == dist.DeviceMesh("cpu", [[0, 1], [2, 3]], mesh_dim_names=("replica", "shard")) and m != swapped
    assert dist.DeviceMesh.from_group(dist.group.WORLD, "cpu").shape == (4,)
    line = dist.init_device_mesh("cpu", (4,))
    assert line.get_group() is dist.group.WORLD and line.get_local_rank() == rank
    part = dist.DeviceMesh("cpu", [3, 1])
    assert part.get_coordinate() == {3: [0], 1: [1]}.get(rank)
    if rank in (1, 3):
        assert dist.get_rank(part.get_group()) == [3, 1].index(rank)
    for call, kind, words in (
        (lambda: m.get_group(), RuntimeError, "the mesh has 2 dimensions"),
        (lambda: m.get_group("other"), KeyError, "there is no dimension 'other'"),
        (lambda: dist.init_device_mesh("cpu", (3,)), RuntimeError, "needs as many ranks, and there are 4"),
        (lambda: dist.DeviceMesh("cpu", [0, 0]), ValueError, "expected different ranks from 0 to 3"),
        (lambda: dist.DeviceMesh("cpu", [0], mesh_dim_names=("a", "b")), ValueError, "expected 1 names"),
    ):
        try:
            call()
        except kind as e:
            assert words in str(e), e
        else:
            raise AssertionError(words)


def test_a_mesh_of_four_ranks(tmp_path):
    run(mesh, tmp_path, 4).check()


def sharded(rank, size):
    from lamella import nn, optim
    from lamella.distributed.optim import ZeroRedundancyOptimizer

    def made():
        lamella.manual_seed(0)
        return nn.Sequential(nn.Linear(5, 9), nn.Tanh(), nn.Linear(9, 3), nn.Linear(3, 1))

    def groups(net):
        return [
            {"params": list(net[0].parameters()), "lr": 0.02},
            {"params": [*net[2].parameters(), *net[3].parameters()], "weight_decay": 0.1},
        ]

    one, many = made(), nn.parallel.DistributedDataParallel(made())
    whole = optim.Adam(groups(one), lr=0.05)
    parts = ZeroRedundancyOptimizer(groups(many.module), optim.Adam, lr=0.05)
    schedules = [optim.lr_scheduler.StepLR(o, 2, 0.5) for o in (whole, parts)]
    rng = np.random.default_rng(0)

    def steps(n, optimizers, nets):
        for _ in range(n):
            x = lamella.from_numpy(rng.standard_normal((2 * size, 5)).astype("float32"))
            for optimizer, net, part in zip(optimizers, nets, (x, x[rank::size]), strict=True):
                optimizer.zero_grad()
                net(part).square().mean().backward()
                optimizer.step()
            for s in schedules:
                s.step()

    def compare():
        for p, q in zip(one.parameters(), many.module.parameters(), strict=True):
            np.testing.assert_allclose(q.detach().numpy(), p.detach().numpy(), rtol=1e-5, atol=1e-6)

    steps(5, (whole, parts), (one, many))
    compare()
    kept = sum(len(s) for s in parts.optim.state.values())
    assert 0 < kept < sum(len(s) for s in whole.state.values())
    for to in (0, size - 1):
        parts.consolidate_state_dict(to)
        if rank == to:
            got, want = parts.state_dict(), whole.state_dict()
            assert got["state"].keys() == want["state"].keys()
            for i in want["state"]:
                np.testing.assert_allclose(
                    got["state"][i]["exp_avg"].numpy(), want["state"][i]["exp_avg"].numpy(), rtol=1e-4, atol=1e-6
                )
            assert [g["lr"] for g in got["param_groups"]] == [g["lr"] for g in want["param_groups"]]
            optim.Adam(groups(made()), lr=1).load_state_dict(got)
        elif to == 0:
            try:
                parts.state_dict()
            except RuntimeError as e:
                assert "call consolidate_state_dict(to=" in str(e)
            else:
                raise AssertionError("no error")
    again = ZeroRedundancyOptimizer(groups(many.module), optim.Adam, lr=0.05)
    again.load_state_dict(whole.state_dict())
    schedules[1] = optim.lr_scheduler.StepLR(again, 2, 0.5, last_epoch=4)
    again.param_groups[0]["lr"], again.param_groups[1]["lr"] = (g["lr"] for g in whole.param_groups)
    schedules.clear()
    steps(3, (whole, again), (one, many))
    compare()


@pytest.mark.parametrize("size", [2, 3])
def test_states_that_are_divided(size, tmp_path):
    run(sharded, tmp_path, size).check()
