"""Groups of processes: the public names of ``lamella.distributed``. ``docs/distributed.md`` is the guide.

>>> lamella.distributed.is_available()
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import algorithms as algorithms
    from . import flight as flight
    from . import launch as launch
    from . import optim as optim
    from .addresses import default_pg_timeout as default_pg_timeout
    from .addresses import rendezvous as rendezvous
    from .collectives import ReduceOp as ReduceOp
    from .collectives import Work as Work
    from .collectives import all_gather as all_gather
    from .collectives import all_gather_into_tensor as all_gather_into_tensor
    from .collectives import all_reduce as all_reduce
    from .collectives import all_to_all as all_to_all
    from .collectives import all_to_all_single as all_to_all_single
    from .collectives import barrier as barrier
    from .collectives import broadcast as broadcast
    from .collectives import gather as gather
    from .collectives import reduce as reduce
    from .collectives import reduce_scatter as reduce_scatter
    from .collectives import reduce_scatter_tensor as reduce_scatter_tensor
    from .collectives import scatter as scatter
    from .device_mesh import DeviceMesh as DeviceMesh
    from .device_mesh import init_device_mesh as init_device_mesh
    from .errors import DistBackendError as DistBackendError
    from .errors import DistError as DistError
    from .errors import DistNetworkError as DistNetworkError
    from .errors import DistStoreError as DistStoreError
    from .groups import GroupMember as GroupMember
    from .groups import ProcessGroup as ProcessGroup
    from .groups import destroy_process_group as destroy_process_group
    from .groups import get_backend as get_backend
    from .groups import get_global_rank as get_global_rank
    from .groups import get_group_rank as get_group_rank
    from .groups import get_process_group_ranks as get_process_group_ranks
    from .groups import get_rank as get_rank
    from .groups import get_world_size as get_world_size
    from .groups import group as group
    from .groups import init_process_group as init_process_group
    from .groups import is_available as is_available
    from .groups import is_gloo_available as is_gloo_available
    from .groups import is_initialized as is_initialized
    from .groups import is_mpi_available as is_mpi_available
    from .groups import is_nccl_available as is_nccl_available
    from .groups import is_torchelastic_launched as is_torchelastic_launched
    from .groups import is_ucc_available as is_ucc_available
    from .groups import monitored_barrier as monitored_barrier
    from .groups import new_group as new_group
    from .memory import symmetric_empty as symmetric_empty
    from .messages import P2POp as P2POp
    from .messages import batch_isend_irecv as batch_isend_irecv
    from .messages import irecv as irecv
    from .messages import isend as isend
    from .messages import recv as recv
    from .messages import send as send
    from .objects import all_gather_object as all_gather_object
    from .objects import broadcast_object_list as broadcast_object_list
    from .objects import gather_object as gather_object
    from .objects import recv_object_list as recv_object_list
    from .objects import scatter_object_list as scatter_object_list
    from .objects import send_object_list as send_object_list
    from .reducer import GradBucket as GradBucket
    from .reducer import Reducer as Reducer
    from .stores import FileStore as FileStore
    from .stores import HashStore as HashStore
    from .stores import PrefixStore as PrefixStore
    from .stores import Store as Store
    from .stores import TCPStore as TCPStore

# The public names by module; a module is imported when one of its names is first used.
NAMES = {
    "stores": "Store TCPStore FileStore HashStore PrefixStore",
    "addresses": "rendezvous default_pg_timeout",
    "groups": "ProcessGroup GroupMember group init_process_group destroy_process_group new_group "
    "is_available is_initialized is_mpi_available is_gloo_available is_nccl_available is_ucc_available "
    "is_torchelastic_launched get_rank get_world_size get_backend get_process_group_ranks get_global_rank "
    "get_group_rank monitored_barrier",
    "device_mesh": "DeviceMesh init_device_mesh",
    "memory": "symmetric_empty",
    "messages": "P2POp send recv isend irecv batch_isend_irecv",
    "collectives": "ReduceOp Work all_reduce reduce broadcast all_gather all_gather_into_tensor reduce_scatter "
    "reduce_scatter_tensor all_to_all all_to_all_single gather scatter barrier",
    "objects": "all_gather_object gather_object broadcast_object_list scatter_object_list send_object_list "
    "recv_object_list",
    "reducer": "GradBucket Reducer",
    "errors": "DistError DistBackendError DistNetworkError DistStoreError",
}
PACKAGES = ("algorithms", "flight", "launch", "optim")
HOMES = {name: module for module, names in NAMES.items() for name in names.split()}
if not TYPE_CHECKING:
    __all__ = [*HOMES]


def __getattr__(name: str) -> Any:
    if name in NAMES or name in PACKAGES:
        return import_module(f"{__name__}.{name}")
    if module := HOMES.get(name):
        found = globals()[name] = getattr(import_module(f"{__name__}.{module}"), name)
        return found
    raise AttributeError(f"module 'lamella.distributed' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *HOMES})
