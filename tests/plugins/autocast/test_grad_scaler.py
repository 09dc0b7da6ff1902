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
    with pytest.raises(RuntimeError, match="no step"):
        other.update()
