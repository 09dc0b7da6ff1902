"""Networks, a scaler and a profiler under autocast; and all tests of test_autocast.py on the example backend."""

import os
from pathlib import Path

import lamella
import lamella.nn.functional as F
import numpy as np
import pytest
from children import OWN_PLUGINS, run
from compiled import FOLDER
from lamella import nn

pytestmark = pytest.mark.needs("autograd", "autocast")
LOW, FULL, HALF = lamella.bfloat16, lamella.float32, lamella.float16
HERE = Path(__file__).resolve().parent


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(3, 16, batch_first=True), nn.Linear(16, 1)

    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1])


class Attending(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Linear(3, 16), nn.Linear(16, 1)
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)

    def forward(self, x):
        return self.head(self.layer(self.embed(x)).mean(1))


@pytest.mark.parametrize("net", [Recurrent, Attending])
def test_networks_learn_as_in_float32(net):
    rng = np.random.default_rng(0)
    x = lamella.tensor(rng.standard_normal((32, 4, 3)).astype("float32"))
    y = x.sum(1)[:, :1]
    final = {}
    for on in (False, True):
        lamella.manual_seed(0)
        model = net()
        optimizer = lamella.optim.Adam(model.parameters(), lr=0.01)
        losses = []
        for _ in range(60):
            with lamella.autocast("cpu", enabled=on):
                out = model(x)
                loss = F.mse_loss(out, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        assert out.dtype is (LOW if on else FULL) and loss.dtype is FULL
        assert {p.dtype for p in model.parameters()} == {p.grad.dtype for p in model.parameters()} == {FULL}
        assert losses[-1] < 0.3 * losses[0]
        final[on] = losses
    assert abs(final[True][0] - final[False][0]) < 0.05 * final[False][0]
    assert final[True][-1] < final[False][-1] + 0.1 * final[False][0]


def test_a_scaler_in_float16():
    model, scaler = nn.Linear(3, 1), lamella.amp.GradScaler("cpu", init_scale=1024.0)
    optimizer = lamella.optim.SGD(model.parameters(), lr=0.1)
    x, y = lamella.randn(16, 3), lamella.randn(16, 1)
    first = None
    for _ in range(10):
        with lamella.autocast("cpu", dtype=HALF):
            loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        first = first or loss.item()
    assert loss.item() < first


def test_the_profiler_sees_casts():
    w = lamella.ones(2, 2, requires_grad=True)
    with lamella.profiler.profile() as profile, lamella.autocast("cpu"):
        w @ w
    names = [event.name for event in profile.events()]
    assert "aten::to" in names and any(name in names for name in ("aten::matmul", "aten::mm"))


@pytest.mark.long
def test_on_bank(guest):
    options = ("-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist")
    run(
        guest.python, "-m", "pytest", *options, HERE / "test_autocast.py", cwd=HERE.parents[1],
        AUTOCAST_ON="bank", LAMELLA_PLUGINS=f"{OWN_PLUGINS},bank", **{FOLDER: os.environ[FOLDER]},
    )  # fmt: skip
