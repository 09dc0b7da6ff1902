"""Schedulers: learning rates that change from step to step, with the names and meaning of torch.optim.lr_scheduler.

>>> optimizer = lamella.optim.SGD([lamella.zeros(1)], lr=1.0)
>>> scheduler = lamella.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
>>> for _ in range(4):
...     optimizer.step()
...     scheduler.step()
>>> scheduler.get_last_lr()
[0.25]
"""

from lamella.optim.lr_scheduler.cosine import CosineAnnealingLR, CosineAnnealingWarmRestarts
from lamella.optim.lr_scheduler.cyclic import CyclicLR, OneCycleLR
from lamella.optim.lr_scheduler.factors import ConstantLR, ExponentialLR, LinearLR, MultiStepLR, PolynomialLR, StepLR
from lamella.optim.lr_scheduler.functions import LambdaLR, MultiplicativeLR
from lamella.optim.lr_scheduler.plateau import ReduceLROnPlateau
from lamella.optim.lr_scheduler.scheduler import LRScheduler, _LRScheduler  # noqa: F401
from lamella.optim.lr_scheduler.sequences import ChainedScheduler, SequentialLR

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]

for _name in __all__:
    globals()[_name].__module__ = __name__  # the module that pickles name
