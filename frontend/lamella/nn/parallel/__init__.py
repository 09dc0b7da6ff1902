"""A module on several devices. Only ``DataParallel`` on one device is implemented; names are torch.nn.parallel's."""

from lamella._absent import explain
from lamella.nn.parallel.data_parallel import DataParallel, data_parallel

__all__ = ["DataParallel", "data_parallel"]

# Names of torch that are not implemented yet.
PLANNED = frozenset("DistributedDataParallel distributed gather parallel_apply replicate scatter".split())


def __getattr__(name):
    if name in PLANNED:
        raise AttributeError(f"lamella.nn.parallel.{name} is not here yet; it is planned with a plugin of its own")
    raise AttributeError(explain("lamella.nn.parallel", name, __all__))
