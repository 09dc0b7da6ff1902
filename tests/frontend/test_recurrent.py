"""Recurrent modules and packed sequences equal a loop over cells, and each sequence alone; their errors."""

import lamella
import numpy as np
import pytest
from arrays import numbers
from lamella import nn
from lamella.autograd import gradcheck
from lamella.nn.utils import rnn

F64 = lamella.float64
CELLS = {"RNN": nn.RNNCell, "LSTM": nn.LSTMCell, "GRU": nn.GRUCell}
LAYERS = {"RNN": nn.RNN, "LSTM": nn.LSTM, "GRU": nn.GRU}


def close(a, b):
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-10, atol=1e-12)


def parts(state):
    return state if isinstance(state, tuple) else (state,)


def cell_of(kind, layer, k, suffix=""):
    cell = CELLS[kind](1, layer.hidden_size, dtype=F64)
    for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
        setattr(cell, name, getattr(layer, f"{name}_l{k}{suffix}"))
    return cell


@pytest.mark.parametrize("kind", CELLS)
def test_layers_are_loops_over_cells(kind):
    lamella.manual_seed(0)
    layer = LAYERS[kind](3, 4, num_layers=2, bidirectional=True, dtype=F64)
    x = numbers(5, 2, 3)
    out, state = layer(x)
    rows, last = list(x.unbind(0)), []
    for k in range(2):
        made = []
        for suffix in ("", "_reverse"):
            cell, given, each = cell_of(kind, layer, k, suffix), None, []
            for row in rows[::-1] if suffix else rows:
                given = cell(row, given)
                each.append(parts(given)[0])
            made.append(each[::-1] if suffix else each)
            last.append(parts(given))
        rows = [lamella.cat(pair, 1) for pair in zip(*made, strict=True)]
    close(out, lamella.stack(rows, 0))
    for i, part in enumerate(parts(state)):
        close(part, lamella.stack([s[i] for s in last], 0))


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("bidirectional", [False, True])
def test_packed_sequences_are_each_alone(kind, bidirectional):
    lamella.manual_seed(0)
    layer = LAYERS[kind](3, 4, num_layers=2, bidirectional=bidirectional, dtype=F64)
    sequences = [numbers(n, 3, seed=n) for n in (2, 5, 3)]
    out, state = layer(rnn.pack_sequence(sequences, enforce_sorted=False))
    for i, (x, y) in enumerate(zip(sequences, rnn.unpack_sequence(out), strict=True)):
        alone, last = layer(x)
        close(y, alone)
        for a, b in zip(parts(state), parts(last), strict=True):
            close(a[:, i], b)


def test_projection():
    lamella.manual_seed(0)
    layer = nn.LSTM(3, 5, proj_size=2, dtype=F64)
    x = numbers(4, 2, 3)
    out, (h, c) = layer(x)
    state, cell = np.zeros((2, 2)), np.zeros((2, 5))
    w_ih, w_hh, b_ih, b_hh, w_hr = (p.detach().numpy() for p in layer.all_weights[0])
    for k in range(4):
        i, f, g, o = np.split(x[k].numpy() @ w_ih.T + b_ih + state @ w_hh.T + b_hh, 4, 1)
        i, f, o = (1 / (1 + np.exp(-v)) for v in (i, f, o))
        cell = f * cell + i * np.tanh(g)
        state = o * np.tanh(cell) @ w_hr.T
        np.testing.assert_allclose(out[k].detach().numpy(), state, rtol=1e-10)
    np.testing.assert_allclose(h[0].detach().numpy(), state, rtol=1e-10)
    np.testing.assert_allclose(c[0].detach().numpy(), cell, rtol=1e-10)
    assert gradcheck(lambda x: layer(x)[0], (numbers(3, 2, 3).requires_grad_(),))


def projected_loop(x, layer, k, suffix):
    """Runs one direction of a layer over one sequence, step by step, by differentiable operators alone."""
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
    w_ih, w_hh, b_ih, b_hh, w_hr = (getattr(layer, f"{name}_l{k}{suffix}") for name in names)
    h, c, out = x.new_zeros(layer.proj_size), x.new_zeros(layer.hidden_size), []
    for row in x.flip(0).unbind(0) if suffix else x.unbind(0):
        i, f, g, o = (w_ih @ row + b_ih + w_hh @ h + b_hh).chunk(4)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = w_hr @ (o.sigmoid() * c.tanh())
        out.append(h)
    return lamella.stack(out[::-1] if suffix else out), h, c


@pytest.mark.parametrize("size", [5, 70])  # a size of 70 needs two panels
def test_projections_in_layers_directions_and_packed_sequences(size):
    lamella.manual_seed(0)
    layer = nn.LSTM(3, size, 2, bidirectional=True, proj_size=size - 3, dtype=F64)
    sequences = [numbers(n, 3, seed=n).requires_grad_() for n in (2, 4, 3)]
    leaves = [*sequences, *layer.parameters()]
    out, (h, c) = layer(rnn.pack_sequence(sequences, enforce_sorted=False))
    rows, last = sequences, []
    for k in range(2):
        made = [[projected_loop(x, layer, k, suffix) for suffix in ("", "_reverse")] for x in rows]
        rows = [lamella.cat([y for y, _, _ in both], 1) for both in made]
        last += [lamella.stack([m[d][1] for m in made]) for d in (0, 1)]
        cells = [lamella.stack([m[d][2] for m in made]) for d in (0, 1)]
    for y, want in zip(rnn.unpack_sequence(out), rows, strict=True):
        close(y, want)
    close(h, lamella.stack(last))
    close(c[2:], lamella.stack(cells))
    grads = lamella.autograd.grad(out.data.square().sum() + h.sum() + c[2:].sin().sum(), leaves)
    wanted = sum(y.square().sum() for y in rows) + sum(h.sum() for h in last) + lamella.stack(cells).sin().sum()
    for got, want in zip(grads, lamella.autograd.grad(wanted, leaves), strict=True):
        close(got, want)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_large_cell_is_that_of_its_rows(threads):
    """Products of many rows use threads and another algorithm than products of few rows."""
    lamella.manual_seed(0)
    cell = nn.LSTMCell(40, 50, dtype=F64)
    x, h, c = (numbers(700, n, seed=n).requires_grad_() for n in (40, 50, 51))
    state = (h, c[:, :50])
    leaves = [x, h, c, *cell.parameters()]
    lamella.set_num_threads(threads)
    whole = cell(x, state)
    grads = lamella.autograd.grad(whole[0].square().sum() + whole[1].sum(), leaves)
    parts = [cell(*(t[i : i + 70] for t in (x,)), tuple(t[i : i + 70] for t in state)) for i in range(0, 700, 70)]
    for k in (0, 1):
        close(whole[k], lamella.cat([p[k] for p in parts]))
    wanted = sum(h.square().sum() + c.sum() for h, c in parts)
    for got, want in zip(grads, lamella.autograd.grad(wanted, leaves), strict=True):
        close(got, want)


def test_batch_first_and_unbatched():
    lamella.manual_seed(0)
    plain, first = nn.GRU(3, 4, dtype=F64), nn.GRU(3, 4, batch_first=True, dtype=F64)
    first.load_state_dict(plain.state_dict())
    x, h = numbers(5, 2, 3), numbers(1, 2, 4)
    out, last = plain(x, h)
    close(first(x.transpose(0, 1), h)[0].transpose(0, 1), out)
    close(plain(x[:, 1], h[:, 1])[0], out[:, 1])
    close(first(x[:, 1], h[:, 1])[1], last[:, 1])


def test_dropout_acts_between_layers_in_training():
    lamella.manual_seed(0)
    layer = nn.RNN(3, 50, 2, "relu", dropout=1.0, bias=False)
    x = lamella.ones(2, 1, 3)
    assert layer(x)[0].abs().sum() == 0
    assert layer.eval()(x)[0].abs().sum() > 0


@pytest.mark.parametrize("kind", LAYERS)
def test_threads_change_no_bit(kind):
    lamella.manual_seed(0)
    layer, x = LAYERS[kind](20, 300), lamella.randn(3, 40, 20)
    made = []
    for threads in (1, 4):
        lamella.set_num_threads(threads)
        layer.zero_grad()
        out, _ = layer(x)
        out.square().sum().backward()
        made.append([t.detach().numpy().tobytes() for t in (out, *(p.grad for p in layer.parameters()))])
    assert made[0] == made[1]


def test_half_precision():
    lamella.manual_seed(0)
    layer = nn.LSTM(3, 4)
    x = numbers(5, 2, 3).float()
    want, _ = layer(x)
    got, _ = layer.bfloat16()(x.bfloat16())
    assert got.dtype is lamella.bfloat16
    np.testing.assert_allclose(got.float().detach().numpy(), want.detach().numpy(), atol=0.02)


def test_state_dict_and_all_weights():
    layer = nn.LSTM(3, 5, 2, bidirectional=True, proj_size=2)
    assert [p.shape for p in layer.all_weights[2]] == [(20, 4), (20, 2), (20,), (20,), (2, 5)]
    assert list(layer.state_dict())[5:10] == [
        f"{name}_l0_reverse" for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
    ]
    layer.flatten_parameters()
    assert all(abs(p).max() <= 5**-0.5 for p in layer.parameters())


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: nn.LSTM(3, 0), ValueError, "hidden_size must be greater than zero"),
        (lambda: nn.LSTM("3", 4), TypeError, "input_size should be of type int"),
        (lambda: nn.GRU(3, 4, bias=1), TypeError, "bias should be of type bool"),
        (lambda: nn.GRU(3, 4, 2, dropout=2), ValueError, "dropout should be a number"),
        (lambda: nn.GRU(3, 4, proj_size=1), ValueError, "only supported for LSTM"),
        (lambda: nn.LSTM(3, 4, proj_size=4), ValueError, "smaller than hidden_size"),
        (lambda: nn.RNN(3, 4, nonlinearity="sin"), ValueError, "Unknown nonlinearity 'sin'"),
        (lambda: nn.RNNBase("X", 3, 4), ValueError, "Unrecognized RNN mode: X"),
        (lambda: nn.LSTM(3, 4)(lamella.ones(2)), ValueError, "Expected input to be 2D or 3D, got 1D"),
        (lambda: nn.LSTM(3, 4)(lamella.ones(2, 1, 5)), RuntimeError, "Expected 3, got 5"),
        (lambda: nn.LSTM(3, 4)(lamella.ones(2, 1, 3, dtype=F64)), ValueError, "does not match weight dtype"),
        (lambda: nn.GRU(3, 4)(lamella.ones(2, 1, 3), lamella.ones(1, 2, 4)), RuntimeError, "Expected hidden size"),
        (lambda: nn.GRU(3, 4)(lamella.ones(2, 1, 3), lamella.ones(1, 4)), RuntimeError, "hx should also be 3-D"),
        (lambda: nn.GRUCell(3, 4)(lamella.ones(2, 1, 3)), ValueError, "GRUCell: Expected input to be 1D or 2D"),
        (lambda: nn.RNNCell(3, 4, nonlinearity="x")(lamella.ones(3)), RuntimeError, "Unknown nonlinearity: x"),
        (lambda: rnn.pack_padded_sequence(lamella.ones(3, 2), [1, 2]), RuntimeError, "enforce_sorted=False"),
        (lambda: rnn.pack_padded_sequence(lamella.ones(3, 2), [4, 2]), RuntimeError, "'lengths'"),
        (lambda: rnn.pack_padded_sequence(lamella.ones(3, 2), [2]), RuntimeError, "one for each of 2 sequences"),
        (lambda: rnn.pad_sequence([]), RuntimeError, "empty list"),
        (lambda: rnn.pad_sequence([lamella.ones(2, 3), lamella.ones(2, 2)]), RuntimeError, "differ"),
        (lambda: rnn.PackedSequence(lamella.ones(2)), AssertionError, "a pair"),
    ],
)
def test_errors(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_packed_rows_and_orders():
    sequences = [lamella.tensor([1]), lamella.tensor([2, 3, 4]), lamella.tensor([5, 6])]
    packed = rnn.pack_sequence(sequences, enforce_sorted=False)
    assert packed.data.tolist() == [2, 5, 1, 3, 6, 4]
    assert packed.batch_sizes.tolist() == [3, 2, 1]
    assert packed.sorted_indices.tolist() == [1, 2, 0]
    assert packed.unsorted_indices.tolist() == [2, 0, 1]
    padded, lengths = rnn.pad_packed_sequence(packed, batch_first=True, padding_value=-1, total_length=4)
    assert padded.tolist() == [[1, -1, -1, -1], [2, 3, 4, -1], [5, 6, -1, -1]]
    assert lengths.tolist() == [1, 3, 2]
    assert [t.tolist() for t in rnn.unpack_sequence(packed)] == [t.tolist() for t in sequences]
    assert rnn.pad_sequence(sequences, True, 9, "left").tolist() == [[9, 9, 1], [2, 3, 4], [9, 5, 6]]
    with pytest.raises(ValueError, match="total_length"):
        rnn.pad_packed_sequence(packed, total_length=2)
    double = packed.double()
    assert double.data.dtype is F64
    assert double.batch_sizes is packed.batch_sizes
    assert packed.to(lamella.int64) is packed
    data, sizes, *_ = packed
    assert rnn.PackedSequence((data, sizes))[:2] == (data, sizes)


def test_packing_is_differentiable():
    x = numbers(3, 2, 2).requires_grad_()
    assert gradcheck(lambda x: rnn.pack_padded_sequence(x, [3, 1]).data, (x,))
    assert gradcheck(lambda x: rnn.pad_packed_sequence(rnn.pack_padded_sequence(x, [3, 1]))[0], (x,))
