"""A module in several processes, and ``DataParallel`` on one device; names are torch.nn.parallel's."""

from lamella._absent import explain
from lamella.nn.parallel.data_parallel import DataParallel, data_parallel
from lamella.nn.parallel.distributed import DistributedDataParallel
from lamella.plugins import contributions

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel"]

# Names of torch that are not implemented yet.
PLANNED = frozenset("gather parallel_apply replicate scatter".split())

contributions.contribute(  # for a plugin with groups of processes of its own, which brings another class
    contributions.gather(__name__, {"DistributedDataParallel": DistributedDataParallel}, placeholder=True)
)


def __getattr__(name):
    if name in PLANNED:
        raise AttributeError(f"lamella.nn.parallel.{name} is not here yet; it is planned with a plugin of its own")
    raise AttributeError(explain("lamella.nn.parallel", name, __all__))
