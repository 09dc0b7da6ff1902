"""LSTM, GRU and RNN, by ONNX's own operators: one for each layer, in both directions."""

from __future__ import annotations

from typing import Any

from ..table import row

# For each kind, the order in which ONNX has the gates, as places in torch's order.
GATES = {"LSTM": (0, 3, 1, 2), "GRU": (1, 0, 2), "RNN": (0,)}


def plain(given: dict[str, Any]) -> bool:
    """Returns whether weights have no projection, and no dropout is on."""
    per_layer = (2 + 2 * given["has_biases"]) * (1 + given["bidirectional"]) * given["num_layers"]
    return len(given["params"]) == per_layer and not (given["train"] and given["dropout"])


def recurrent(kind: str, activation: str = "", **options: Any) -> Any:
    def translate(g, x, states, params, has_biases, layers, dropout, train, bidirectional, batch_first=False) -> Any:
        states = states if isinstance(states, list) else [states]
        directions, count = 1 + bidirectional, 2 + 2 * has_biases
        hidden = states[0].shape[-1]
        way: dict[str, Any] = {"direction": "bidirectional" if bidirectional else "forward", "hidden_size": hidden}
        x = g.Transpose(x, perm=[1, 0, 2]) if batch_first else x
        ends: list[list[Any]] = [[] for _ in states]
        for layer in range(layers):
            first = layer * directions
            own = [params[(first + d) * count : (first + d + 1) * count] for d in range(directions)]
            kinds = [[ordered(g, kind, hidden, weights[i]) for weights in own] for i in range(count)]
            w, r = (together(g, kinds[i]) for i in (0, 1))
            biases = [g.Concat(a, b, axis=0) for a, b in zip(*kinds[2:], strict=True)] if has_biases else None
            b = together(g, biases) if biases else None
            begin = [g.Slice(s, [first], [first + directions], [0]) if layers > 1 else s for s in states]
            if activation:
                way["activations"] = [activation] * directions
            made = getattr(g, kind)(x, w, r, b, None, *begin, outputs=1 + len(states), **way, **options)
            y, last = made[0], made[1:]
            for end, state in zip(ends, last, strict=True):
                end.append(state)
            # from steps, directions, batch, hidden to steps, batch, directions * hidden
            x = g.Reshape(g.Transpose(y, perm=[0, 2, 1, 3]), [0, 0, -1]) if bidirectional else g.Squeeze(y, [1])
        x = g.Transpose(x, perm=[1, 0, 2]) if batch_first else x
        return (x, *(g.Concat(*end, axis=0) if layers > 1 else end[0] for end in ends))

    return translate


def ordered(g: Any, kind: str, hidden: int, weight: Any) -> Any:
    """Returns a weight or bias with the gates in ONNX's order."""
    order = GATES[kind]
    if len(order) == 1:
        return weight
    parts = g.Split(weight, [hidden] * len(order), axis=0, outputs=len(order))
    return g.Concat(*(parts[i] for i in order), axis=0)


def together(g: Any, parts: list[Any]) -> Any:
    """Returns the weights of all directions as one tensor."""
    parts = [g.Unsqueeze(p, [0]) for p in parts]
    return g.Concat(*parts, axis=0) if len(parts) > 1 else parts[0]


row("lstm.input", when=plain)(recurrent("LSTM"))
row("gru.input", when=plain)(recurrent("GRU", linear_before_reset=1))
row("rnn_tanh.input", when=plain)(recurrent("RNN", "Tanh"))
row("rnn_relu.input", when=plain)(recurrent("RNN", "Relu"))
