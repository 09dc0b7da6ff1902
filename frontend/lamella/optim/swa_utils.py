"""Averages of models: stochastic weight averaging, moving averages, and a schedule of learning rates for them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any, Literal

import lamella
from lamella._history import no_history, without_history
from lamella.nn.modules.batchnorm import _BatchNorm
from lamella.nn.modules.module import Module
from lamella.optim._lists import parts
from lamella.optim.lr_scheduler.scheduler import LRScheduler, per_group

__all__ = [
    "AveragedModel",
    "SWALR",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]


def _check_decay(decay: float) -> None:
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def _lerps(t: Any) -> bool:
    return t.is_floating_point() or t.is_complex()


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[..., None]:
    """Returns a function that updates lists: ``average = decay average + (1 - decay) value``, in place.

    Raises ValueError unless ``decay`` is in [0, 1].

    >>> average = [lamella.zeros(1)]
    >>> lamella.optim.swa_utils.get_ema_multi_avg_fn(0.75)(average, [lamella.ones(1)], 1)
    >>> average
    [tensor([0.2500])]
    """
    _check_decay(decay)

    @without_history
    def ema_update(ema_param_list: Any, current_param_list: Any, _: Any) -> None:
        if _lerps(ema_param_list[0]):
            lamella._foreach_lerp_(list(ema_param_list), list(current_param_list), 1 - decay)
        else:
            for average, value in zip(ema_param_list, current_param_list, strict=True):
                average.copy_(average * decay + value * (1 - decay))

    return ema_update


def get_swa_multi_avg_fn() -> Callable[..., None]:
    """Returns a function that updates lists, in place, to the mean of all values so far.

    >>> average = [lamella.zeros(1)]
    >>> lamella.optim.swa_utils.get_swa_multi_avg_fn()(average, [lamella.ones(1)], 1)
    >>> average
    [tensor([0.5000])]
    """

    @without_history
    def swa_update(averaged_param_list: Any, current_param_list: Any, num_averaged: Any) -> None:
        share = 1 / (int(num_averaged) + 1)
        if _lerps(averaged_param_list[0]):
            lamella._foreach_lerp_(list(averaged_param_list), list(current_param_list), share)
        else:
            for average, value in zip(averaged_param_list, current_param_list, strict=True):
                average.copy_(average + (value - average) * share)

    return swa_update


def get_ema_avg_fn(decay: float = 0.999) -> Callable[..., Any]:
    """Returns a function that computes ``decay average + (1 - decay) value`` of one tensor.

    Raises ValueError unless ``decay`` is in [0, 1].

    >>> lamella.optim.swa_utils.get_ema_avg_fn(0.75)(lamella.zeros(1), lamella.ones(1), 1)
    tensor([0.2500])
    """
    _check_decay(decay)

    @without_history
    def ema_update(ema_param: Any, current_param: Any, num_averaged: Any) -> Any:
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn() -> Callable[..., Any]:
    """Returns a function that computes the mean of all values so far, of one tensor.

    >>> lamella.optim.swa_utils.get_swa_avg_fn()(lamella.zeros(1), lamella.ones(1), 1)
    tensor([0.5000])
    """

    @without_history
    def swa_update(averaged_param: Any, current_param: Any, num_averaged: Any) -> Any:
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


class AveragedModel(Module):
    """A copy of a model whose parameters are averages; Izmailov et al., Averaging Weights Leads to Wider Optima (2018).

    Args:
        model: the model, which is copied to ``module``
        device: the device of the copy
        avg_fn: ``avg_fn(average, value, n_averaged)`` returns the new average of one tensor
        multi_avg_fn: the same for lists, in place; without either function the average is the mean
        use_buffers: True averages buffers, too; False copies them. Buffers of integers and bools are always copied

    Raises:
        AssertionError: both functions are given

    >>> model = lamella.nn.Linear(1, 1)
    >>> average = lamella.optim.swa_utils.AveragedModel(model)
    >>> average.update_parameters(model)
    >>> average.n_averaged
    tensor(1)
    """

    n_averaged: Any

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Callable[..., Any] | None = None,
        multi_avg_fn: Callable[..., None] | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", lamella.tensor(0, dtype=lamella.int64, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the averaged model."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Adds the parameters of ``model`` to the average; the first call copies them."""
        with no_history():
            mine, given = _tensors(self.module, self.use_buffers), _tensors(model, self.use_buffers)
            values = [v.to(a.device) for a, v in zip(mine, given, strict=False)]
            mine = mine[: len(values)]
            first = int(self.n_averaged) == 0
            if first:
                for average, value in zip(mine, values, strict=True):
                    average.copy_(value)
            elif self.avg_fn is not None:
                for average, value in zip(mine, values, strict=True):
                    average.copy_(self.avg_fn(average, value, self.n_averaged.to(average.device)))
            elif mine:
                update = self.multi_avg_fn or get_swa_multi_avg_fn()
                for averages, some in parts((mine, values)):
                    update(averages, some, self.n_averaged.to(averages[0].device))
            for average, value in zip(self.module.buffers(), model.buffers(), strict=True):
                if not (self.use_buffers and _is_averaged(average)):
                    average.detach().copy_(value.detach().to(average.device))
            self.n_averaged.add_(1)


def _tensors(module: Module, buffers: bool) -> list[Any]:
    averaged = filter(_is_averaged, module.buffers()) if buffers else ()
    return [t.detach() for t in itertools.chain(module.parameters(), averaged)]


def _is_averaged(buffer: Any) -> bool:
    """Returns whether a buffer's dtype can hold a mean. Steps towards it would be cut to zero in integers."""
    return buffer.is_floating_point() or buffer.is_complex()


@without_history
def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Computes the running statistics of the batch norms anew, as the mean over the batches of ``loader``.

    Args:
        loader: yields batches, or tuples and lists whose first element is the batch
        model: the model, which is called with each batch in training mode
        device: the device to which batches are moved

    >>> model = lamella.nn.BatchNorm1d(1)
    >>> lamella.optim.swa_utils.update_bn([lamella.tensor([[1.0], [3.0]])], model)
    >>> model.running_mean
    tensor([2.])
    """
    norms = [module for module in model.modules() if isinstance(module, _BatchNorm)]
    if not norms:
        return
    momenta = [module.momentum for module in norms]
    training = model.training
    model.train()
    try:
        for module in norms:
            module.reset_running_stats()
            module.momentum = None
        for batch in loader:
            batch = batch[0] if isinstance(batch, (list, tuple)) else batch
            model(batch if device is None else batch.to(device))
    finally:
        for module, momentum in zip(norms, momenta, strict=True):
            module.momentum = momentum
        model.train(training)


class SWALR(LRScheduler):
    """Changes each group's rate to ``swa_lr`` in ``anneal_epochs`` steps, and keeps it there.

    Args:
        optimizer: the optimizer
        swa_lr: a rate, or one for each group
        anneal_epochs: 0 or more
        anneal_strategy: "cos" or "linear"

    Raises:
        ValueError: an argument is out of its range

    >>> optimizer = lamella.optim.SGD([lamella.zeros(1)], lr=1.0)
    >>> scheduler = lamella.optim.swa_utils.SWALR(optimizer, 0.5, anneal_epochs=2, anneal_strategy="linear")
    >>> optimizer.step(); scheduler.step()
    >>> scheduler.get_last_lr()
    [0.75]
    """

    def __init__(
        self,
        optimizer: Any,
        swa_lr: float,
        anneal_epochs: int = 10,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        last_epoch: int = -1,
    ) -> None:
        rates = per_group("swa_lr", optimizer, swa_lr)
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        for rate, group in zip(rates, optimizer.param_groups, strict=True):
            group["swa_lr"] = rate
        self._anneal_strategy = anneal_strategy
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _share(self, step: int) -> float:
        t = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return (1 - math.cos(math.pi * t)) / 2 if self._anneal_strategy == "cos" else t

    def get_lr(self) -> list[Any]:
        """Returns the rates of this step, computed from those of the step before."""
        self._warn_outside_step()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._share(step - 1), self._share(step)
        rates = []
        for group in self.optimizer.param_groups:
            end = group["swa_lr"]
            start = end if before == 1 else (group["lr"] - before * end) / (1 - before)
            rates.append(end * now + start * (1 - now))
        return rates
