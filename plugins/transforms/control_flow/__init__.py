"""Control flow as functions: the public names of ``lamella._higher_order_ops``. ``docs/transforms.md`` is the guide.

Within ``vmap`` a condition may differ between samples, which an ``if`` or a ``while`` of Python refuses.

>>> def step(x):
...     return lamella.cond(x > 0, lamella.sqrt, lamella.neg, (x,))
>>> lamella.vmap(step)(lamella.tensor([4.0, -3.0]))
tensor([2., 3.])
"""

from .associative_scan import associative_scan
from .cond import cond
from .map import map
from .scan import scan
from .while_loop import while_loop

__all__ = ["associative_scan", "cond", "map", "scan", "while_loop"]
