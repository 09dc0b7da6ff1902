"""The functions of torch.distributed where the plugin ``distributed`` is not loaded. Those with which programs test
whether it is available say that it is not; the others raise the errors of a process without a group."""

from __future__ import annotations

from lamella._torch.refusals import refuse

WHY = "the plugin 'distributed', which brings groups of processes, is not loaded"

refuse("lamella.distributed", "init_device_mesh init_process_group", WHY)
refuse(
    "lamella.distributed",
    "all_gather all_gather_into_tensor all_gather_object all_reduce barrier broadcast broadcast_object_list "
    "destroy_process_group gather get_backend get_rank get_world_size irecv isend monitored_barrier new_group recv "
    "reduce reduce_scatter scatter send",
    f"Default process group has not been initialized: {WHY}; ask is_initialized() first",
    ValueError,  # torch's, in a process without a group
)


def is_available() -> bool:
    """Returns False: Lamella has no groups of processes.

    >>> lamella.distributed.is_available()
    False
    """
    return False


def is_initialized() -> bool:
    """Returns False: Lamella has no groups of processes.

    >>> lamella.distributed.is_initialized()
    False
    """
    return False


def is_torchelastic_launched() -> bool:
    """Returns False: the program was not started by torchrun.

    >>> lamella.distributed.is_torchelastic_launched()
    False
    """
    return False


def is_nccl_available() -> bool:
    """Returns False, as do the functions for the other libraries of torch.distributed.

    >>> lamella.distributed.is_nccl_available()
    False
    """
    return False


is_gloo_available = is_mpi_available = is_ucc_available = is_nccl_available
