"""The minimal interface: a whole model is quantized by one call, as its submodules' ``qconfig`` say."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import lamella
from lamella import nn

from . import eager


class QuantizedModel(nn.Module):
    """A model that takes and gives floating numbers, and computes with integers between. ``save(path)`` writes it."""

    def __init__(self, model: Any):
        super().__init__()
        self.model = model

    def forward(self, *args: Any, **keywords: Any) -> Any:
        return self.model(*args, **keywords)

    def save(self, path: Any) -> None:
        """Writes the state of the model, whose weights are integers, for ``load_state_dict(state, assign=True)``."""
        lamella.save(self.state_dict(), path, format="lamella")


def quantize(model: Any, eval_fn: Callable[..., Any], eval_args: Any = ()) -> QuantizedModel:
    """Quantizes a model to eight bits by the data that ``eval_fn(model, *eval_args)`` runs through it.

    A submodule's ``qconfig`` says how it is quantized; without any the whole model has `get_default_qconfig`. A model
    without a `QuantStub` is put between one and a `DeQuantStub`.

    Raises:
        RuntimeError: ``eval_fn`` has run no data through a layer
    """
    model = copy.deepcopy(model)
    work = model if any(isinstance(m, eager.QuantStub) for m in model.modules()) else eager.QuantWrapper(model)
    if not any(hasattr(m, "qconfig") for m in model.modules()):
        work.qconfig = eager.get_default_qconfig()
    elif work is not model:
        work.quant.qconfig = eager.get_default_qconfig()
    return QuantizedModel(eager.quantize(work.eval(), eval_fn, eval_args, inplace=True))
