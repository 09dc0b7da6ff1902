"""GradScaler: scales, steps that are left out, and a device that is not there."""

import lamella
import pytest

pytestmark = pytest.mark.needs("autograd", "autocast")


@pytest.mark.skipif(lamella.cuda.is_available(), reason="this machine has CUDA, and the test is of one without")
def test_amp_of_an_absent_device_warns_and_does_nothing():
    from lamella.cuda import amp

    with pytest.warns(UserWarning, match="no device 'cuda'"), amp.autocast():
        pass
    with pytest.warns(UserWarning, match="no device 'cuda'"):
        scaler = amp.GradScaler()
    with pytest.warns(UserWarning, match="no accelerator here"):
        assert not lamella.amp.GradScaler().is_enabled()
    loss = lamella.ones(1)
    assert scaler.scale(loss) is loss and scaler.get_scale() == 1 and not scaler.is_enabled()
    assert scaler.state_dict() == {} and scaler.step(Steps([])) == "stepped" and scaler.update() is None


class Steps:
    """An optimizer whose step() returns a text."""

    def __init__(self, params):
        self.param_groups = [{"params": params}]

    def step(self):
        return "stepped"


def test_scaler_scales_and_leaves_out_infinite_steps():
    weight = lamella.ones(2, requires_grad=True)
    scaler = lamella.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
    optimizer = Steps([weight])
    scaler.scale((weight * 3).sum()).backward()
    assert weight.grad.tolist() == [24, 24]
    scaler.unscale_(optimizer)
    assert weight.grad.tolist() == [3, 3]
    with pytest.raises(RuntimeError, match="since the last update"):
        scaler.unscale_(optimizer)
    assert scaler.step(optimizer) == "stepped"
    with pytest.raises(RuntimeError, match="since the last update"):
        scaler.step(optimizer)
    scaler.update()
    weight.grad[0] = float("inf")
    assert scaler.step(optimizer) is None
    scaler.update()
    assert scaler.get_scale() == 4
    weight.grad = lamella.ones(2)
    for _ in range(2):
        scaler.step(optimizer)
        scaler.update()
    assert scaler.get_scale() == 8
    other = lamella.amp.GradScaler("cpu")
    other.load_state_dict(scaler.state_dict())
    assert other.state_dict() == scaler.state_dict() and other.get_scale() == 8
    with pytest.raises(RuntimeError, match="empty"):
        other.load_state_dict({})
    with pytest.raises(AssertionError, match="update: no step"):
        other.update()


@pytest.mark.parametrize("dtype", [lamella.float16, lamella.bfloat16, lamella.float32, lamella.float64])
def test_a_loss_of_no_dimensions_is_scaled_in_float32_or_wider(dtype):
    loss, batch = lamella.tensor(1.0, dtype=dtype), lamella.ones(2, dtype=dtype)
    scaled, tuples = lamella.amp.GradScaler("cpu").scale(loss), lamella.amp.GradScaler("cpu").scale((loss, batch))
    assert scaled.item() == 2**16 and tuples[0].item() == 2**16
    assert scaled.dtype is (lamella.float64 if dtype is lamella.float64 else lamella.float32)
    assert tuples[1].dtype is dtype


@pytest.mark.needs("sparse")
@pytest.mark.parametrize("values, skipped", [([8.0, 16.0], False), ([8.0, float("nan")], True), ([3e38, 3e38], True)])
def test_sparse_gradients_are_unscaled_and_tested(values, skipped):
    weight = lamella.ones(4, requires_grad=True)
    weight.grad = lamella.sparse_coo_tensor(lamella.tensor([[1, 1]]), lamella.tensor(values), (4,))
    scaler = lamella.amp.GradScaler("cpu", init_scale=1.0 if skipped else 8.0)
    assert scaler.step(Steps([weight])) == (None if skipped else "stepped")
    if not skipped:
        assert weight.grad.to_dense().tolist() == [0, 3, 0, 0]


@pytest.mark.needs("sparse")
def test_a_sparse_embedding_steps_as_a_dense_one():
    weights = []
    for sparse in (False, True):
        table = lamella.nn.Embedding.from_pretrained(lamella.ones(5, 2), freeze=False, sparse=sparse)
        optimizer, scaler = lamella.optim.SGD(table.parameters(), lr=0.5), lamella.amp.GradScaler("cpu")
        scaler.scale(table(lamella.tensor([1, 3, 1])).sum()).backward()
        scaler.step(optimizer)
        weights.append(table.weight.tolist())
    assert weights[0] == weights[1] == [[1, 1], [0, 0], [1, 1], [0.5, 0.5], [1, 1]]


def test_gradients_in_float16_are_refused_and_none_is_changed():
    weights = [lamella.ones(2, dtype=dtype, requires_grad=True) for dtype in (lamella.float32, lamella.float16)]
    for weight in weights:
        weight.grad = lamella.ones_like(weight)
    scaler = lamella.amp.GradScaler("cpu", init_scale=8.0)
    for call in (scaler.unscale_, scaler.step, scaler.unscale_):
        with pytest.raises(ValueError, match="unscale_: .*keep the parameters in float32"):
            call(Steps(weights))
    assert [weight.grad.tolist() for weight in weights] == [[1, 1], [1, 1]]


@pytest.mark.parametrize("bad", [None, 0, 2])
def test_one_infinite_gradient_of_many_leaves_the_step_out(bad):
    weights = [lamella.ones(n, requires_grad=True) for n in (1, 0, 3)]
    for weight in weights:
        weight.grad = lamella.ones_like(weight)
    if bad is not None:
        weights[bad].grad[-1] = float("-inf")
    assert lamella.amp.GradScaler("cpu").step(Steps(weights)) == ("stepped" if bad is None else None)


def test_an_optimizer_without_gradients_and_calls_in_a_wrong_order():
    weight = lamella.ones(2, requires_grad=True)
    scaler, optimizer, idle = lamella.amp.GradScaler("cpu", init_scale=8.0), Steps([weight]), Steps([])
    for _ in range(2):
        with pytest.raises(AssertionError, match="step: no parameter of this optimizer has a gradient; call scale"):
            scaler.step(idle)
    with pytest.raises(RuntimeError, match="unscale_: it has been called"):
        scaler.unscale_(idle)
    with pytest.raises(AssertionError, match="update: no step.*call step"):
        scaler.update()
    weight.grad = lamella.ones(2)
    assert scaler.step(optimizer) == "stepped"
    with pytest.raises(RuntimeError, match="unscale_: it is called after step"):
        scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="step: it has been called"):
        scaler.step(optimizer)
    scaler.update()  # the idle optimizer does not count
    with pytest.raises(AssertionError, match="update: no step"):
        scaler.update()
    scaler.update(lamella.tensor(2.0))
    assert scaler.get_scale() == 2


def test_factors_and_interval_can_be_set():
    weight = lamella.ones(2, requires_grad=True)
    weight.grad = lamella.ones(2)
    scaler = lamella.amp.GradScaler("cpu", init_scale=2.0)
    scaler.set_growth_factor(3.0)
    scaler.set_backoff_factor(0.25)
    scaler.set_growth_interval(1)
    assert (scaler.get_growth_factor(), scaler.get_backoff_factor(), scaler.get_growth_interval()) == (3, 0.25, 1)
    scales = []
    for value in (1.0, float("inf")):
        weight.grad = lamella.full((2,), value)
        scaler.step(Steps([weight]))
        scaler.update()
        scales.append(scaler.get_scale())
    assert scales == [6, 1.5]
    for keyword in ({"growth_factor": 1.0}, {"backoff_factor": 1.0}):
        with pytest.raises(AssertionError, match=f"argument '{next(iter(keyword))}'"):
            lamella.amp.GradScaler("cpu", **keyword)


def test_the_scale_stays_within_float32():
    weight = lamella.ones(1, requires_grad=True)
    weight.grad = lamella.ones(1)
    scaler = lamella.amp.GradScaler("cpu", init_scale=2.0**127, growth_interval=1)
    scaler.step(Steps([weight]))
    scaler.update()
    assert scaler.get_scale() == 2.0**127
