"""Oracles of recurrent layers: one sequence at a time, step by step; gradients by the chain rule, step by step."""

from __future__ import annotations

import numpy as np

from oracles.base import entries


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


# One step: takes the sums of the gates (of a GRU the parts of input and state) and the old state and cell; returns the
# new state, the new cell and the values saved for the gradient.


def lstm_step(x, u, h, c):
    i, f, g, o = np.split(x + u, 4)
    i, f, g, o = sigmoid(i), sigmoid(f), np.tanh(g), sigmoid(o)
    c = f * c + i * g
    return o * np.tanh(c), c, np.concatenate([i, f, g, o])


def gru_step(x, u, h, c):
    (xr, xz, xn), (ur, uz, q) = np.split(x, 3), np.split(u, 3)
    r, z = sigmoid(xr + ur), sigmoid(xz + uz)
    n = np.tanh(xn + r * q)
    return (1 - z) * n + z * h, c, np.concatenate([r, z, n, q])


def plain_step(curve):
    return lambda x, u, h, c: (curve(x + u), c, x)


def relu(x):
    return np.maximum(x, 0)


def rows_of(sizes, b, reverse=False):
    """Returns the rows of one sequence, in the order in which they are visited."""
    starts = np.cumsum([0, *sizes])
    rows = [int(starts[t]) + b for t, n in enumerate(sizes) if b < n]
    return rows[::-1] if reverse else rows


def layer(step, gates, hx, cx, weight, bias, sizes, reverse, projection=None):
    """Returns results, last states, last cells, all cells, and the saved values."""
    out, hn, cn = np.zeros((len(gates), hx.shape[1])), hx.copy(), cx.copy()
    cells, kept = np.zeros((len(gates), cx.shape[1])), {}
    for b in range(len(hx)):
        for row in rows_of(sizes, b, reverse):
            u = weight @ hn[b] + (0 if bias is None else bias)
            y, cn[b], kept[row] = step(gates[row], u, hn[b], cn[b])
            hn[b] = y if projection is None else projection @ y
            out[row], cells[row] = hn[b], cn[b]
    return out, hn, cn, cells, np.array([kept[row] for row in sorted(kept)])


STEPS = {"lstm": lstm_step, "gru": gru_step, "tanh": plain_step(np.tanh), "relu": plain_step(relu)}


def network(kind, rows, sizes, hx, cx, params, has_biases, num_layers, bidirectional):
    directions = 2 if bidirectional else 1
    each = len(params) // (num_layers * directions)
    last_h, last_c = [], []
    for k in range(num_layers):
        made = []
        for d in range(directions):
            at = k * directions + d
            w_ih, w_hh, *more = params[at * each : (at + 1) * each]
            b_ih, b_hh, *more = more if has_biases else (0, np.zeros(len(w_hh)), *more)
            gates = rows @ w_ih.T + b_ih
            out, h, c, *_ = layer(STEPS[kind], gates, hx[at], cx[at], w_hh, b_hh, sizes, d == 1, *more)
            made.append(out)
            last_h.append(h)
            last_c.append(c)
        rows = np.concatenate(made, 1)
    return rows, np.array(last_h), np.array(last_c)


def states(kind, hx):
    return hx if kind == "lstm" else (hx, hx)


def whole(kind):
    def go(x, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
        x = np.swapaxes(x, 0, 1) if batch_first else x
        rows, sizes = x.reshape(-1, x.shape[2]), [x.shape[1]] * len(x)
        out, h, c = network(kind, rows, sizes, *states(kind, hx), params, has_biases, num_layers, bidirectional)
        out = out.reshape(*x.shape[:2], -1) if x.size else np.zeros((*x.shape[:2], h.shape[2] * (1 + bidirectional)))
        out = np.swapaxes(out, 0, 1) if batch_first else out
        return (out, h, c) if kind == "lstm" else (out, h)

    return go


def packed(kind):
    def go(rows, sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional):
        made = network(kind, rows, sizes.tolist(), *states(kind, hx), params, has_biases, num_layers, bidirectional)
        return made if kind == "lstm" else made[:2]

    return go


def cell(kind):
    def go(x, hx, w_ih, w_hh, b_ih=None, b_hh=None):
        params = [w_ih, w_hh, 0 if b_ih is None else b_ih, np.zeros(len(w_hh)) if b_hh is None else b_hh]
        h, c = (s[None] for s in states(kind, hx))
        _, h, c = network(kind, x, [len(x)], h, c, params, True, 1, False)
        return (h[0], c[0]) if kind == "lstm" else h[0]

    return go


# ---- gradients -------------------------------------------------------------------------------------------------------


def or_zeros(g, like):
    return np.zeros_like(like) if g is None else g


def lstm_step_back(dh, dc, more, before, c, kept):
    """Returns the gradients of the gates' sums and of the old cell."""
    i, f, g, o = np.split(kept, 4)
    mi, mf, mg, mo = np.split(more, 4)
    t = np.tanh(c)
    dc = dc + dh * o * (1 - t**2)
    sums = (dc * g + mi) * i * (1 - i), (dc * before + mf) * f * (1 - f), (dc * i + mg) * (1 - g**2)
    return np.concatenate([*sums, (dh * t + mo) * o * (1 - o)]), dc * f


def lstm_layer_back(go, gh, gc, gcells, gkept, hx, cx, w, p, out, cells, kept, sizes, reverse):
    go, gh, gc = or_zeros(go, out), or_zeros(gh, hx), or_zeros(gc, cx)
    gcells, gkept = or_zeros(gcells, cells), or_zeros(gkept, kept)
    sums, dh, dc, dw = np.zeros_like(kept), gh.copy(), gc.copy(), np.zeros_like(w)
    dp = 0 if p is None else np.zeros_like(p)
    for b in range(len(hx)):
        rows = rows_of(sizes, b, reverse)
        for row, old in zip(rows[::-1], [*rows[-2::-1], None], strict=True):
            h, c = (hx[b], cx[b]) if old is None else (out[old], cells[old])
            dy = dh[b] + go[row]
            if p is not None:
                dp += np.outer(dy, kept[row][-len(cx[b]) :] * np.tanh(cells[row]))
                dy = dy @ p
            given = dy, dc[b] + gcells[row], gkept[row]
            sums[row], dc[b] = lstm_step_back(*given, c, cells[row], kept[row])
            dh[b] = sums[row] @ w
            dw += np.outer(sums[row], h)
    return (sums, dh, dc, dw) if p is None else (sums, dh, dc, dw, dp)


def gru_layer_back(go, gh, gkept, hx, w, out, kept, sizes, reverse):
    go, gh, gkept = or_zeros(go, out), or_zeros(gh, hx), or_zeros(gkept, kept)
    inputs, dh, dw, db = np.zeros((len(out), len(w))), gh.copy(), np.zeros_like(w), np.zeros(len(w))
    for b in range(len(hx)):
        rows = rows_of(sizes, b, reverse)
        for row, old in zip(rows[::-1], [*rows[-2::-1], None], strict=True):
            h = hx[b] if old is None else out[old]
            (r, z, n, q), (mr, mz, mn, mq) = np.split(kept[row], 4), np.split(gkept[row], 4)
            d = dh[b] + go[row]
            dn = (d * (1 - z) + mn) * (1 - n**2)
            dr, dz = (dn * q + mr) * r * (1 - r), (d * (h - n) + mz) * z * (1 - z)
            state = np.concatenate([dr, dz, dn * r + mq])
            inputs[row] = np.concatenate([dr, dz, dn])
            dh[b] = d * z + state @ w
            dw += np.outer(state, h)
            db += state
    return inputs, dh, dw, db


def rnn_layer_back(go, gh, hx, w, out, sizes, reverse, is_relu):
    go, gh = or_zeros(go, out), or_zeros(gh, hx)
    sums, dh, dw = np.zeros_like(out), gh.copy(), np.zeros_like(w)
    for b in range(len(hx)):
        rows = rows_of(sizes, b, reverse)
        for row, old in zip(rows[::-1], [*rows[-2::-1], None], strict=True):
            sums[row] = (dh[b] + go[row]) * ((out[row] > 0) if is_relu else (1 - out[row] ** 2))
            dh[b] = sums[row] @ w
            dw += np.outer(sums[row], hx[b] if old is None else out[old])
    return sums, dh, dw


def lstm_cell_back(gh, gc, gkept, x, hx, cx, w_ih, w_hh, cy, kept, wanted):
    gh, gc, gkept = or_zeros(gh, hx), or_zeros(gc, cx), or_zeros(gkept, kept)
    made = [lstm_step_back(*row) for row in zip(gh, gc, gkept, cx, cy, kept, strict=True)]
    sums, dc = (np.array([m[k] for m in made]) for k in (0, 1))
    all_of_them = sums @ w_ih, sums @ w_hh, dc, sums.T @ x, sums.T @ hx, sums.sum(0), sums.sum(0)
    return [g for g, asked in zip(all_of_them, wanted, strict=True) if asked]


def rnn_layer(gates, hx, weight, sizes, reverse, is_relu):
    return layer(STEPS["relu" if is_relu else "tanh"], gates, hx, hx, weight, None, sizes, reverse)[:2]


def gru_layer(gates, hx, weight, bias, sizes, reverse):
    out, hn, _, _, kept = layer(gru_step, gates, hx, hx, weight, bias, sizes, reverse)
    return out, hn, kept


def one_lstm_cell(x, h, c, w_ih, w_hh, b_ih, b_hh):
    sums = x @ w_ih.T + (0 if b_ih is None else b_ih) + (0 if b_hh is None else b_hh)
    made = layer(lstm_step, sums, h, c, w_hh, None, [len(x)], False)
    return made[1], made[2], made[4]


entries(
    rnn_tanh_cell=cell("tanh"),
    rnn_relu_cell=cell("relu"),
    gru_cell=cell("gru"),
    lstm_cell=cell("lstm"),
    _lstm_layer=lambda g, h, c, w, p, sizes, reverse: layer(lstm_step, g, h, c, w, None, sizes, reverse, p),
    _gru_layer=gru_layer,
    _rnn_layer=rnn_layer,
    _lstm_cell=one_lstm_cell,
    _lstm_layer_backward=lstm_layer_back,
    _gru_layer_backward=gru_layer_back,
    _rnn_layer_backward=rnn_layer_back,
    _lstm_cell_backward=lstm_cell_back,
)


def either(kind):
    """Chooses the overload: if the second argument has integers, the rows are packed."""

    def go(x, second, *rest):
        lengths = isinstance(second, np.ndarray) and second.dtype.kind == "i"
        return (packed if lengths else whole)(kind)(x, second, *rest)

    return go


entries(lstm=either("lstm"), gru=either("gru"), rnn_tanh=either("tanh"), rnn_relu=either("relu"))
