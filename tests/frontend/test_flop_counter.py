"""utils.flop_counter and utils.module_tracker: counts equal products of sizes, in forward and backward, by module."""

import sys

import children
import lamella
import pytest
from lamella.utils.flop_counter import FlopCounterMode, flop_registry, register_flop_formula
from lamella.utils.module_tracker import ModuleTracker

F, nn = lamella.nn.functional, lamella.nn
MATMUL = 2 * 3 * 4 * 5
# Maps a name to a call with a function that makes tensors, its operations, and those of its backward.
CASES = {
    "mm": (lambda r: r(3, 4) @ r(4, 5), MATMUL, 2 * MATMUL),
    "batches": (lambda r: lamella.matmul(r(6, 3, 4), r(6, 4, 5)), 6 * MATMUL, 12 * MATMUL),
    "folded": (lambda r: lamella.matmul(r(6, 3, 4), r(4, 5)), 6 * MATMUL, 12 * MATMUL),
    "mv": (lambda r: r(3, 4) @ r(4), 24, 24),
    "dot": (lambda r: lamella.dot(r(7), r(7)), 14, 0),
    "addmm": (lambda r: lamella.addmm(r(3, 5), r(3, 4), r(4, 5)), MATMUL, 2 * MATMUL),
    "baddbmm": (lambda r: lamella.baddbmm(r(2, 3, 5), r(2, 3, 4), r(2, 4, 5)), 2 * MATMUL, 4 * MATMUL),
    "addbmm": (lambda r: lamella.addbmm(r(3, 5), r(2, 3, 4), r(2, 4, 5)), 2 * MATMUL, 4 * MATMUL),
    "linear": (lambda r: F.linear(r(3, 4), r(5, 4), r(5)), MATMUL, 2 * MATMUL),
    "einsum": (lambda r: lamella.einsum("bij,bjk->bik", r(6, 3, 4), r(6, 4, 5)), 6 * MATMUL, 12 * MATMUL),
    "tensordot": (lambda r: lamella.tensordot(r(3, 4), r(4, 5), 1), MATMUL, 2 * MATMUL),
    "conv1d": (lambda r: F.conv1d(r(2, 3, 9), r(4, 3, 3)), 2 * (2 * 4 * 7) * (3 * 3), None),
    "conv2d": (lambda r: F.conv2d(r(1, 4, 8, 8), r(6, 2, 3, 3), stride=2, groups=2), 2 * (6 * 3 * 3) * (2 * 9), None),
    "conv3d": (lambda r: F.conv3d(r(1, 1, 4, 4, 4), r(2, 1, 2, 2, 2)), 2 * (2 * 27) * 8, None),
    "transposed": (lambda r: F.conv_transpose2d(r(1, 2, 4, 4), r(2, 3, 3, 3)), 2 * (2 * 16) * (3 * 9), None),
    "attention": (lambda r: F.scaled_dot_product_attention(r(2, 3, 4, 8), r(2, 3, 5, 8), r(2, 3, 5, 6)),
                  2 * (2 * 3 * 4 * 5) * (8 + 6), 2 * (2 * 3 * 4 * 5) * (3 * 8 + 2 * 6)),
    "pointwise": (lambda r: (r(3) * r(3)).exp().sum(), 0, 0),
    "lstm": (lambda r: nn.LSTM(4, 5)(r(3, 2, 4))[0], 2 * 3 * 2 * 20 * (4 + 5), None),
}  # fmt: skip


def count(call):
    with FlopCounterMode(display=False) as counter:
        result = call()
    return counter.get_total_flops(), result


@pytest.mark.needs("autograd")
@pytest.mark.parametrize("name", CASES)
def test_counts(name):
    call, forward, backward = CASES[name]
    assert count(lambda: call(lamella.rand))[0] == forward
    found, result = count(lambda: call(lambda *size: lamella.rand(*size, requires_grad=True)))
    assert found == forward
    if backward is None:  # the gradients by both factors
        backward = 2 * forward
    assert count(lambda: result.sum().backward())[0] == backward


@pytest.mark.needs("autograd")
def test_counts_by_module():
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Sequential(nn.Linear(8, 2)))
    x = lamella.rand(3, 4)
    with FlopCounterMode(display=False) as counter:
        model(x).sum().backward()
    counts = {module: sum(ops.values()) for module, ops in counter.get_flop_counts().items()}
    first, last = 2 * 3 * 4 * 8, 2 * 3 * 8 * 2  # no gradient by x
    assert counts == {
        "Global": 2 * first + 3 * last,
        "Sequential": 2 * first + 3 * last,
        "Sequential.0": 2 * first,
        "Sequential.2": 3 * last,
        "Sequential.2.0": 3 * last,
    }
    linear = lamella.ops.aten.linear
    assert counter.get_flop_counts()["Sequential.0"][linear] == first
    table = counter.get_table()
    assert "Sequential.2.0" not in table and "Sequential.2.0" in counter.get_table(3) and "aten.linear" in table
    assert table.splitlines()[2].split() == ["Global", str(2 * first + 3 * last), "100.00%"]
    with counter:  # a second use begins again
        model(x)
    assert counter.get_total_flops() == first + last


@pytest.mark.needs("autograd")
def test_a_checkpoint_counts_its_second_run():
    from lamella.utils.checkpoint import checkpoint

    layer, x = nn.Linear(4, 8), lamella.rand(3, 4, requires_grad=True)
    once = 2 * 3 * 4 * 8
    assert count(lambda: layer(x).sum().backward())[0] == 3 * once
    assert count(lambda: checkpoint(layer, x).sum().backward())[0] == 4 * once


def test_without_plugins(tmp_path):
    program = """
import lamella
from lamella.utils.flop_counter import FlopCounterMode
with FlopCounterMode(display=False) as counter:
    lamella.nn.Linear(3, 4)(lamella.ones(2, 3))
    lamella.einsum("ij,jk->ik", lamella.ones(2, 3), lamella.ones(3, 4))
print(counter.get_total_flops(), sorted(counter.get_flop_counts()))
"""
    printed = children.run(sys.executable, "-c", program, cwd=tmp_path, LAMELLA_PLUGINS="cpu")
    assert printed.strip() == "48 ['Global', 'Linear']"


def test_the_table_is_printed(capsys):
    with FlopCounterMode(depth=1), lamella.no_grad():
        nn.Linear(1000, 1000)(lamella.rand(50, 1000))
    assert "100M" in capsys.readouterr().out


def test_own_formulas():
    lib = lamella.library.Library("counted_by_test", "DEF")
    lib.define("one(Tensor self, int n) -> Tensor")
    lib.define("two(Tensor self) -> Tensor")
    lib.impl("one", lambda x, n: x * n, "cpu")
    lib.impl("two", lambda x: x + 1, "cpu")
    ops = lamella.ops.counted_by_test
    try:

        @register_flop_formula([ops.one, ops.two])
        def formula(shape, *args, out_shape=None, **kwargs):
            assert out_shape == shape
            return shape[0] * (args[0] if args else 1)

        assert count(lambda: (ops.one(lamella.ones(5), 3), ops.two(lamella.ones(2))))[0] == 17
        with pytest.raises(ValueError, match="has a formula already"):
            register_flop_formula(ops.one)(formula)
        with pytest.raises(ValueError, match="expected operators"):
            register_flop_formula(3)(formula)
        raw = lambda x, n, out_val=None: int(out_val.sum())  # noqa: E731
        raw._get_raw = True
        with FlopCounterMode(display=False, custom_mapping={ops.one: raw}) as counter:
            ops.one(lamella.ones(5), 3)
        assert counter.get_total_flops() == 15
    finally:
        for op in (ops.one, ops.two):
            flop_registry.pop(op, None)
        lib.close()


class TestModuleTracker:
    @pytest.mark.needs("autograd")
    def test_forward_and_backward(self):
        model = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
        seen = {}
        with ModuleTracker() as tracker:
            hidden = []
            model[0].register_forward_hook(lambda m, a, out: hidden.append(out))
            y = model(lamella.ones(1, 2, requires_grad=True))
            assert tracker.parents == {"Global"} and not tracker.is_bw
            hidden[0].register_hook(lambda g: seen.update(parents=set(tracker.parents), bw=tracker.is_bw))
            y.sum().backward()
            assert tracker.parents == {"Global"} and not tracker.is_bw
        assert seen["bw"] and {"Global", "Sequential"} <= seen["parents"]
        model(lamella.ones(1, 2))
        assert tracker.parents == {"Global"}

    def test_a_module_that_raises_is_left(self):
        class Bad(nn.Module):
            def forward(self, x):
                raise ValueError("bad")

        with ModuleTracker() as tracker, pytest.raises(ValueError, match="bad"):
            Bad()(lamella.ones(1))
        assert tracker.parents == {"Global"} and tracker.inside == 0
