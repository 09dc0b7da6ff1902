"""Recurrent networks: layers over sequences, and cells that compute one step."""

from __future__ import annotations

import math
import numbers
import warnings
from typing import Any

import lamella.nn.init as init
from lamella import _C
from lamella._C import Tensor
from lamella.nn.modules.module import Module
from lamella.nn.parameter import Parameter
from lamella.nn.utils.rnn import PackedSequence

__all__ = ["GRU", "GRUCell", "LSTM", "LSTMCell", "RNN", "RNNBase", "RNNCell", "RNNCellBase"]

_zeros, _empty = _C._packet("aten::zeros"), _C._packet("aten::empty")
_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}
_LAYERS = {name: _C._packet(f"aten::{name.lower()}") for name in _GATES}
_lstm_cell, _gru_cell = _C._packet("aten::lstm_cell"), _C._packet("aten::gru_cell")
_PLAIN_CELLS = {"tanh": _C._packet("aten::rnn_tanh_cell"), "relu": _C._packet("aten::rnn_relu_cell")}


def apply_permutation(tensor: Tensor, permutation: Tensor, dim: int = 1) -> Tensor:
    """Returns ``tensor.index_select(dim, permutation)``, by which programs should replace it."""
    warnings.warn(
        "apply_permutation is deprecated: use tensor.index_select(dim, permutation)", FutureWarning, stacklevel=2
    )
    return tensor.index_select(dim, permutation)


def _uniform(module: Module, hidden_size: int) -> None:
    bound = 1 / math.sqrt(hidden_size) if hidden_size > 0 else 0
    for weight in module.parameters():
        init.uniform_(weight, -bound, bound)


def _check_whole(name: str, value: Any, least: int, wanted: str) -> None:
    if not isinstance(value, int):
        raise TypeError(f"{name} should be of type int, got: {type(value).__name__}")
    if value < least:
        raise ValueError(f"{name} must be {wanted}, got {value}")


class RNNBase(Module):
    """The common base of RNN, LSTM and GRU: their parameters and their call.

    A layer has ``weight_ih_l{k}`` (gates * hidden, inputs) and ``weight_hh_l{k}`` (gates * hidden, hidden), with
    ``bias`` also ``bias_ih_l{k}`` and ``bias_hh_l{k}``. With ``proj_size``, it also has ``weight_hr_l{k}`` (proj_size,
    hidden), and ``weight_hh_l{k}`` has proj_size columns. The names of the reverse direction end in ``_reverse``. All
    start uniformly between -1 / sqrt(hidden_size) and 1 / sqrt(hidden_size).

    Raises:
        TypeError: a size is not an int, or ``bias`` or ``batch_first`` is not a bool
        ValueError: a size or ``dropout`` is out of range, or ``mode`` is unknown

    >>> [name for name, _ in lamella.nn.RNNBase("GRU", 3, 5).named_parameters()]
    ['weight_ih_l0', 'weight_hh_l0', 'bias_ih_l0', 'bias_hh_l0']
    """

    __constants__ = [
        "mode", "input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional",
        "proj_size",
    ]  # fmt: skip

    mode: str
    input_size: int
    hidden_size: int
    num_layers: int
    bias: bool
    batch_first: bool
    dropout: float
    bidirectional: bool
    proj_size: int

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        if not isinstance(dropout, numbers.Number) or isinstance(dropout, bool) or not 0 <= dropout <= 1:  # type: ignore[operator]
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an element being zeroed, "
                f"got {dropout!r}"
            )
        if dropout > 0 and num_layers == 1:
            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
                f"num_layers greater than 1, but got dropout={dropout} and num_layers={num_layers}",
                stacklevel=2,
            )
        for name, value in (("bias", bias), ("batch_first", batch_first)):
            if not isinstance(value, bool):
                raise TypeError(f"{name} should be of type bool, got: {type(value).__name__}")
        _check_whole("input_size", input_size, 1, "greater than zero")
        _check_whole("hidden_size", hidden_size, 1, "greater than zero")
        if num_layers <= 0:
            raise ValueError(f"num_layers must be greater than zero, got {num_layers}")
        if proj_size < 0:
            raise ValueError(f"proj_size should be a positive integer or zero to disable projections, got {proj_size}")
        if proj_size >= hidden_size:
            raise ValueError(f"proj_size has to be smaller than hidden_size, got {proj_size} and {hidden_size}")
        if mode not in _GATES:
            raise ValueError(f"Unrecognized RNN mode: {mode}; it must be one of {', '.join(_GATES)}")
        self.mode, self.input_size, self.hidden_size = mode, input_size, hidden_size
        self.num_layers, self.bias, self.batch_first = num_layers, bias, batch_first
        self.dropout, self.bidirectional, self.proj_size = float(dropout), bidirectional, proj_size
        self._flat_weights_names: list[str] = []
        self._all_weights: list[list[str]] = []
        state, rows = proj_size or hidden_size, _GATES[mode] * hidden_size
        for layer in range(num_layers):
            width = input_size if layer == 0 else state * self._directions
            sizes = {"weight_ih": (rows, width), "weight_hh": (rows, state)}
            if bias:
                sizes |= {"bias_ih": (rows,), "bias_hh": (rows,)}  # type: ignore[dict-item]
            if proj_size:
                sizes["weight_hr"] = (proj_size, hidden_size)
            for suffix in ("", "_reverse")[: self._directions]:
                names = [f"{name}_l{layer}{suffix}" for name in sizes]
                for name, size in zip(names, sizes.values(), strict=True):
                    setattr(self, name, Parameter(_empty(size, device=device, dtype=dtype)))
                self._flat_weights_names += names
                self._all_weights.append(names)
        self.reset_parameters()

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Takes the state of a module of torch, too, which has the weights a second time, as ``_flat_weights``."""
        super().__setstate__({name: x for name, x in state.items() if name != "_flat_weights"})

    @property
    def _directions(self) -> int:
        return 2 if self.bidirectional else 1

    @property
    def _flat_weights(self) -> list[Any]:
        return [getattr(self, name) for name in self._flat_weights_names]

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters, a list for each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def flatten_parameters(self) -> None:
        """Does nothing, as the layers need no common block of memory for their weights."""

    def reset_parameters(self) -> None:
        """Draws new values for all parameters."""
        _uniform(self, self.hidden_size)

    def check_input(self, input: Tensor, batch_sizes: Any) -> None:
        """Raises an error if the input's dtype, number of dimensions or size is wrong."""
        dtype = self._flat_weights[0].dtype
        if input.dtype != dtype:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({dtype}). "
                f"Convert input: input.to({dtype}), or convert model: model.to({input.dtype})"
            )
        wanted = 3 if batch_sizes is None else 2
        if input.ndim != wanted:
            raise RuntimeError(f"input must have {wanted} dimensions, got {input.ndim}")
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.shape[-1]}"
            )

    def _state_size(self, input: Tensor, batch_sizes: Any, width: int) -> tuple[int, int, int]:
        if batch_sizes is not None:
            batch = int(batch_sizes[0])
        else:
            batch = input.shape[0 if self.batch_first else 1]
        return self.num_layers * self._directions, batch, width

    def get_expected_hidden_size(self, input: Tensor, batch_sizes: Any) -> tuple[int, int, int]:
        """Returns the shape of the hidden state for an input."""
        return self._state_size(input, batch_sizes, self.proj_size or self.hidden_size)

    def check_hidden_size(
        self, hx: Tensor, expected_hidden_size: Any, msg: str = "Expected hidden size {}, got {}"
    ) -> None:
        """Raises an error if the state has another shape."""
        if tuple(hx.shape) != tuple(expected_hidden_size):
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.shape)))

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Any) -> None:
        """Raises an error if the input or the state is wrong."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Any, permutation: Any) -> Any:
        """Returns the state with its sequences permuted."""
        return hx if permutation is None else hx.index_select(1, permutation)

    # The state is one tensor here, and a pair in an LSTM, which overrides the next three methods.
    def _each(self, hx: Any, change: Any) -> Any:
        return change(hx)

    def _zeros(self, input: Tensor, batch_sizes: Any) -> Any:
        return _zeros(self.get_expected_hidden_size(input, batch_sizes), dtype=input.dtype, device=input.device)

    def _check_given(self, hx: Any, ndim: int) -> None:
        if hx.ndim != ndim:
            kind = "unbatched 2-D" if ndim == 2 else "batched 3-D"
            raise RuntimeError(f"For {kind} input, hx should also be {ndim}-D but got {hx.ndim}-D tensor")

    def _run(self, input: Tensor, hx: Any, batch_sizes: Any) -> tuple[Any, Any]:
        rest = (self._flat_weights, self.bias, self.num_layers, self.dropout, self.training, self.bidirectional)
        if batch_sizes is None:
            out, *state = _LAYERS[self.mode](input, hx, *rest, self.batch_first)
        else:
            out, *state = _LAYERS[self.mode](input, batch_sizes, hx, *rest)
        return out, state[0] if len(state) == 1 else tuple(state)

    def forward(self, input: Any, hx: Any = None) -> Any:
        if isinstance(input, PackedSequence):
            data, batch_sizes, order, back = input
            hx = self._zeros(data, batch_sizes) if hx is None else self.permute_hidden(hx, order)
            self.check_forward_args(data, hx, batch_sizes)
            out, state = self._run(data, hx, batch_sizes)
            return PackedSequence(out, batch_sizes, order, back), self.permute_hidden(state, back)
        if input.ndim not in (2, 3):
            raise ValueError(f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.ndim}D instead")
        batched = input.ndim == 3
        if hx is not None:
            self._check_given(hx, input.ndim)
        if batched:
            hx = self._zeros(input, None) if hx is None else hx
            self.check_forward_args(input, hx, None)
            return self._run(input, hx, None)
        batch_dim = 0 if self.batch_first else 1
        input = input.unsqueeze(batch_dim)
        hx = self._zeros(input, None) if hx is None else self._each(hx, lambda t: t.unsqueeze(1))
        self.check_forward_args(input, hx, None)
        out, state = self._run(input, hx, None)
        return out.squeeze(batch_dim), self._each(state, lambda t: t.squeeze(1))

    def extra_repr(self) -> str:
        usual = {
            "proj_size": 0,
            "num_layers": 1,
            "bias": True,
            "batch_first": False,
            "dropout": 0,
            "bidirectional": False,
        }
        others = [f"{name}={getattr(self, name)}" for name, value in usual.items() if getattr(self, name) != value]
        return ", ".join([str(self.input_size), str(self.hidden_size), *others])


class RNN(RNNBase):
    """Layers of h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu, over sequences.

    Call it with (steps, batch, input_size), (batch, steps, input_size) if ``batch_first``, one sequence (steps,
    input_size), or a ``PackedSequence``, and optionally an initial state (num_layers * directions, batch, hidden_size).
    It returns all states of the last layer, and the final states of all layers. ``dropout`` acts between layers, in
    training. :class:`RNNBase` describes the parameters.

    Names: steps and batch keep theirs, the last dimension has none; states keep all of theirs.

    >>> out, h = lamella.nn.RNN(10, 20, 2)(lamella.ones(5, 3, 10))
    >>> out.shape, h.shape
    (lamella.Size([5, 3, 20]), lamella.Size([2, 3, 20]))
    """

    def __init__(self, *args: Any, **kwargs: Any):
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if len(args) > 3:
            nonlinearity, args = args[3], args[:3] + args[4:]
        else:
            nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(f"RNN_{nonlinearity.upper()}", *args, **kwargs)
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """Layers of long short-term memory over sequences.

    The gates i, f, g, o are the four parts of W_ih x + b_ih + W_hh h + b_hh, g under tanh and the others under
    sigmoid; c' = f c + i g and h' = o tanh(c'). With ``proj_size``, h' is W_hr (o tanh(c')). It is called like
    :class:`RNN`; the state is a pair of hidden states and cells (Hochreiter and Schmidhuber, 1997; Sak and others,
    2014).

    Names: steps and batch keep theirs, the last dimension has none; states keep all of theirs.

    >>> out, (h, c) = lamella.nn.LSTM(10, 20, bidirectional=True)(lamella.ones(5, 3, 10))
    >>> out.shape, c.shape
    (lamella.Size([5, 3, 40]), lamella.Size([2, 3, 20]))
    """

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__("LSTM", *args, **kwargs)

    def get_expected_cell_size(self, input: Tensor, batch_sizes: Any) -> tuple[int, int, int]:
        """Returns the shape of the cells for an input."""
        return self._state_size(input, batch_sizes, self.hidden_size)

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Any) -> None:
        self.check_input(input, batch_sizes)
        sizes = self.get_expected_hidden_size(input, batch_sizes), self.get_expected_cell_size(input, batch_sizes)
        for i, size in enumerate(sizes):
            self.check_hidden_size(hidden[i], size, f"Expected hidden[{i}] size {{}}, got {{}}")

    def permute_hidden(self, hx: Any, permutation: Any) -> Any:
        return hx if permutation is None else tuple(t.index_select(1, permutation) for t in hx)

    def _each(self, hx: Any, change: Any) -> Any:
        return tuple(change(t) for t in hx)

    def _zeros(self, input: Tensor, batch_sizes: Any) -> Any:
        sizes = self.get_expected_hidden_size(input, batch_sizes), self.get_expected_cell_size(input, batch_sizes)
        return tuple(_zeros(size, dtype=input.dtype, device=input.device) for size in sizes)

    def _check_given(self, hx: Any, ndim: int) -> None:
        if any(t.ndim != ndim for t in hx):
            kind = "batched 3-D" if ndim == 3 else "unbatched 2-D"
            raise RuntimeError(
                f"For {kind} input, hx and cx should also be {ndim}-D but got ({hx[0].ndim}-D, {hx[1].ndim}-D) tensors"
            )


class GRU(RNNBase):
    """Layers of gated recurrent units over sequences.

    With the parts r, z, n of W_ih x + b_ih and of W_hh h + b_hh, r and z are sigmoids of sums, n is
    tanh(n_x + r n_h), and h' = (1 - z) n + z h. It is called like :class:`RNN` (Cho and others, 2014).

    Names: steps and batch keep theirs, the last dimension has none; states keep all of theirs.

    >>> out, h = lamella.nn.GRU(10, 20, batch_first=True)(lamella.ones(3, 5, 10))
    >>> out.shape, h.shape
    (lamella.Size([3, 5, 20]), lamella.Size([1, 3, 20]))
    """

    def __init__(self, *args: Any, **kwargs: Any):
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)


class RNNCellBase(Module):
    """The common base of the cells: their parameters, which start uniformly in ±1 / sqrt(hidden_size).

    >>> lamella.nn.modules.rnn.RNNCellBase(3, 5, bias=False, num_chunks=4).weight_hh.shape
    lamella.Size([20, 5])
    """

    __constants__ = ["input_size", "hidden_size", "bias"]

    input_size: int
    hidden_size: int
    bias: bool
    weight_ih: Tensor
    weight_hh: Tensor

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None, dtype: Any = None
    ):
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = num_chunks * hidden_size
        self.weight_ih = Parameter(_empty((rows, input_size), device=device, dtype=dtype))
        self.weight_hh = Parameter(_empty((rows, hidden_size), device=device, dtype=dtype))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, Parameter(_empty((rows,), device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        nonlinearity = self.__dict__.get("nonlinearity", "tanh")
        return text if nonlinearity == "tanh" else f"{text}, nonlinearity={nonlinearity}"

    def reset_parameters(self) -> None:
        """Draws new values for all parameters."""
        _uniform(self, self.hidden_size)

    @property
    def _weights(self) -> tuple[Any, ...]:
        own: Any = self._parameters
        return own["weight_ih"], own["weight_hh"], own["bias_ih"], own["bias_hh"]

    def _check(self, what: str, value: Tensor) -> None:
        if value.ndim not in (1, 2):
            raise ValueError(f"{type(self).__name__}: Expected {what} to be 1D or 2D, got {value.ndim}D instead")

    def _step(self, step: Any, input: Tensor, hx: Any) -> Tensor:
        self._check("input", input)
        if hx is not None:
            self._check("hidden", hx)
        batched = input.ndim == 2
        if not batched:
            input = input.unsqueeze(0)
        if hx is None:
            hx = _zeros((input.shape[0], self.hidden_size), dtype=input.dtype, device=input.device)
        elif not batched:
            hx = hx.unsqueeze(0)
        made = step(input, hx, *self._weights)
        return made if batched else made.squeeze(0)


class RNNCell(RNNCellBase):
    """One step of an :class:`RNN`: from (batch, input_size) or (input_size,) and an optional state to the next state.

    Names: the batch keeps its own, and a given state all of its names.

    >>> lamella.nn.RNNCell(10, 20)(lamella.ones(3, 10)).shape
    lamella.Size([3, 20])
    """

    __constants__ = ["input_size", "hidden_size", "bias", "nonlinearity"]

    nonlinearity: str

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__(input_size, hidden_size, bias, num_chunks=1, device=device, dtype=dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Any = None) -> Tensor:
        if self.nonlinearity not in _PLAIN_CELLS:
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}. Select from 'tanh' or 'relu'.")
        return self._step(_PLAIN_CELLS[self.nonlinearity], input, hx)


class LSTMCell(RNNCellBase):
    """One step of an :class:`LSTM`: from an input and an optional pair (hidden state, cell) to the next pair.

    Names: the batch keeps its own, and a given state all of its names.

    >>> h, c = lamella.nn.LSTMCell(10, 20)(lamella.ones(3, 10))
    >>> h.shape, c.shape
    (lamella.Size([3, 20]), lamella.Size([3, 20]))
    """

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None):
        super().__init__(input_size, hidden_size, bias, num_chunks=4, device=device, dtype=dtype)

    def forward(self, input: Tensor, hx: Any = None) -> tuple[Tensor, Tensor]:
        if input.ndim == 2 and hx is not None and hx[0].ndim == 2 and hx[1].ndim == 2:
            return _lstm_cell(input, hx, *self._weights)
        self._check("input", input)
        if hx is not None:
            for i, value in enumerate(hx):
                self._check(f"hx[{i}]", value)
        rows = input if input.ndim == 2 else input.unsqueeze(0)
        if hx is None:
            zeros = _zeros((rows.shape[0], self.hidden_size), dtype=input.dtype, device=input.device)
            hx = (zeros, zeros)
        elif input.ndim == 1:
            hx = (hx[0].unsqueeze(0), hx[1].unsqueeze(0))
        h, c = _lstm_cell(rows, hx, *self._weights)
        return (h, c) if input.ndim == 2 else (h.squeeze(0), c.squeeze(0))


class GRUCell(RNNCellBase):
    """One step of a :class:`GRU`: from an input and an optional state to the next state.

    Names: the batch keeps its own, and a given state all of its names.

    >>> lamella.nn.GRUCell(10, 20)(lamella.ones(3, 10)).shape
    lamella.Size([3, 20])
    """

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None):
        super().__init__(input_size, hidden_size, bias, num_chunks=3, device=device, dtype=dtype)

    def forward(self, input: Tensor, hx: Any = None) -> Tensor:
        return self._step(_gru_cell, input, hx)
