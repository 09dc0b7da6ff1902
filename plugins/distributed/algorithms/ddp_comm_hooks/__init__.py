"""Communication hooks of DistributedDataParallel: how the gradients of a bucket are averaged over the ranks.

>>> import lamella.distributed as dist
>>> from lamella.distributed.algorithms.ddp_comm_hooks import default_hooks
>>> dist.init_process_group("mpi", store=dist.HashStore(), rank=0, world_size=1)
>>> net = lamella.nn.parallel.DistributedDataParallel(lamella.nn.Linear(2, 1))
>>> net.register_comm_hook(None, default_hooks.bf16_compress_hook)
>>> net(lamella.ones(3, 2)).sum().backward()
>>> net.module.bias.grad
tensor([3.])
>>> dist.destroy_process_group()
"""

from . import default_hooks, powerSGD_hook

__all__ = ["default_hooks", "powerSGD_hook"]
