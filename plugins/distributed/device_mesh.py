"""DeviceMesh: the ranks of a job as an array, with groups along its dimensions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import lamella
from lamella import Tensor

from . import groups

__all__ = ["DeviceMesh", "init_device_mesh"]


class DeviceMesh:
    """Ranks as an array. Along each dimension the ranks of a line form a group. All ranks of the job make a mesh at
    once.

    Args:
        device_type: the type of the devices, as ``cpu``
        mesh: the ranks, a tensor or nested lists of ints
        mesh_dim_names: names of the dimensions
        _groups: the groups of this rank for the dimensions; None: they are made

    Raises:
        ValueError: a rank stands twice, or is not in the job, or names and dimensions differ in number

    >>> import lamella.distributed as dist
    >>> dist.init_process_group("mpi", store=dist.HashStore(), rank=0, world_size=1)
    >>> mesh = dist.DeviceMesh("cpu", [[0]], mesh_dim_names=("replica", "shard"))
    >>> mesh.shape, mesh["shard"].size(), mesh.get_coordinate()
    ((1, 1), 1, [0, 0])
    >>> dist.destroy_process_group()
    """

    def __init__(
        self,
        device_type: str,
        mesh: Any,
        *,
        mesh_dim_names: Sequence[str] | None = None,
        backend_override: Any = None,
        _groups: Sequence[Any] | None = None,
    ):
        if backend_override is not None:
            raise NotImplementedError(
                "DeviceMesh: argument 'backend_override' must be None: groups have one engine here"
            )
        self.device_type = device_type
        self.mesh = mesh.to(lamella.int64) if isinstance(mesh, Tensor) else lamella.tensor(mesh, dtype=lamella.int64)
        self.mesh_dim_names = tuple(mesh_dim_names) if mesh_dim_names is not None else None
        if self.mesh_dim_names is not None and len(self.mesh_dim_names) != self.mesh.ndim:
            raise ValueError(
                f"DeviceMesh: argument 'mesh_dim_names': expected {self.mesh.ndim} names, got {self.mesh_dim_names}"
            )
        if self.mesh_dim_names is not None and len(set(self.mesh_dim_names)) != len(self.mesh_dim_names):
            raise ValueError(f"DeviceMesh: argument 'mesh_dim_names': a name stands twice in {self.mesh_dim_names}")
        ranks, world = self.mesh.flatten().tolist(), groups.default_group()
        if len(set(ranks)) != len(ranks) or not all(0 <= r < world.size() for r in ranks):
            raise ValueError(
                f"DeviceMesh: argument 'mesh': expected different ranks from 0 to {world.size() - 1}, got {ranks}"
            )
        self._rank = world.rank()
        self._groups = list(_groups) if _groups is not None else self._make_groups(ranks)

    def _make_groups(self, ranks: list[int]) -> list[Any]:
        """Makes the groups of all lines, and returns those of this rank, one for each dimension."""
        world = groups.default_group()
        if self.mesh.ndim == 1 and ranks == list(range(world.size())):
            return [world]
        own = []
        for dim in range(self.mesh.ndim):
            lines = self.mesh.movedim(dim, -1).reshape(-1, self.mesh.shape[dim]).tolist()
            made = [(line, groups.new_group(line, sort_ranks=False)) for line in lines]
            own.append(next((g for line, g in made if self._rank in line), groups.GroupMember.NON_GROUP_MEMBER))
        return own

    def _dim(self, dim: int | str | None, function: str) -> int:
        if dim is None:
            if self.mesh.ndim != 1:
                raise RuntimeError(f"DeviceMesh.{function}: the mesh has {self.mesh.ndim} dimensions; say which one")
            return 0
        if isinstance(dim, str):
            if self.mesh_dim_names is None or dim not in self.mesh_dim_names:
                raise KeyError(f"DeviceMesh.{function}: there is no dimension '{dim}' among {self.mesh_dim_names}")
            return self.mesh_dim_names.index(dim)
        if not -self.mesh.ndim <= dim < self.mesh.ndim:
            raise IndexError(f"DeviceMesh.{function}: there is no dimension {dim} of {self.mesh.ndim}")
        return dim % self.mesh.ndim

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return int(self.mesh.ndim)

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the dimensions."""
        return tuple(self.mesh.shape)

    def size(self, mesh_dim: int | None = None) -> int:
        """Returns the size of a dimension, or the number of all ranks."""
        return int(self.mesh.numel() if mesh_dim is None else self.mesh.shape[mesh_dim])

    def get_rank(self) -> int:
        """Returns this process's rank in the job."""
        return self._rank

    def get_coordinate(self) -> list[int] | None:
        """Returns this rank's place in the mesh; None if it is not there."""
        found = (self.mesh == self._rank).nonzero()
        return found[0].tolist() if found.numel() else None

    def get_local_rank(self, mesh_dim: int | str | None = None) -> int:
        """Returns this rank's place along a dimension, which is its rank in that dimension's group.

        Raises:
            RuntimeError: no dimension is said, and there are several, or this rank is not in the mesh
        """
        place = self.get_coordinate()
        if place is None:
            raise RuntimeError(f"DeviceMesh.get_local_rank: rank {self._rank} is not in the mesh")
        return place[self._dim(mesh_dim, "get_local_rank")]

    def get_group(self, mesh_dim: int | str | None = None) -> Any:
        """Returns the group of the ranks along a dimension.

        Raises:
            RuntimeError: no dimension is said, and there are several
            KeyError: there is no dimension of the name
        """
        return self._groups[self._dim(mesh_dim, "get_group")]

    def get_all_groups(self) -> list[Any]:
        """Returns the groups of this rank, one for each dimension."""
        return list(self._groups)

    def __getitem__(self, names: str | tuple[str, ...]) -> DeviceMesh:
        """Returns the part of the mesh that this rank is in, along some dimensions by name."""
        wanted = (names,) if isinstance(names, str) else tuple(names)
        dims = [self._dim(name, "__getitem__") for name in wanted]
        place = self.get_coordinate()
        if place is None:
            raise RuntimeError(f"DeviceMesh: rank {self._rank} is not in the mesh")
        index = tuple(slice(None) if d in dims else place[d] for d in range(self.ndim))
        kept = sorted(dims)
        part = self.mesh[index].permute([kept.index(d) for d in dims])
        return DeviceMesh(self.device_type, part, mesh_dim_names=wanted, _groups=[self._groups[d] for d in dims])

    def __repr__(self) -> str:
        names = f", mesh_dim_names={self.mesh_dim_names}" if self.mesh_dim_names else ""
        return f"DeviceMesh('{self.device_type}', {self.mesh.tolist()}{names})"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, DeviceMesh)
            and (self.device_type, self.mesh_dim_names) == (other.device_type, other.mesh_dim_names)
            and self.mesh.tolist() == other.mesh.tolist()
        )

    def __hash__(self) -> int:
        return hash((self.device_type, self.shape, tuple(self.mesh.flatten().tolist()), self.mesh_dim_names))

    @staticmethod
    def from_group(
        group: Any,
        device_type: str,
        mesh: Any = None,
        *,
        mesh_dim_names: Sequence[str] | None = None,
        backend_override: Any = None,
    ) -> DeviceMesh:
        """Returns a mesh of a group that is there, or of one group for each dimension and the ranks as ``mesh``."""
        if isinstance(group, (list, tuple)):
            if mesh is None:
                raise ValueError("DeviceMesh.from_group: with several groups, 'mesh' is required")
            made = list(group)
        else:
            made, mesh = [group], groups.get_process_group_ranks(group)
        return DeviceMesh(
            device_type, mesh, mesh_dim_names=mesh_dim_names, backend_override=backend_override, _groups=made
        )


def init_device_mesh(
    device_type: str,
    mesh_shape: Sequence[int],
    *,
    mesh_dim_names: Sequence[str] | None = None,
    backend_override: Any = None,
) -> DeviceMesh:
    """Makes a mesh of all ranks in their order; makes the group of all processes first if there is none.

    Args:
        device_type: the type of the devices, as ``cpu``
        mesh_shape: the sizes of the dimensions, whose product is the number of ranks
        mesh_dim_names: names of the dimensions

    Raises:
        RuntimeError: the number of ranks is another one

    >>> import lamella.distributed as dist
    >>> dist.init_process_group("mpi", store=dist.HashStore(), rank=0, world_size=1)
    >>> dist.init_device_mesh("cpu", (1, 1), mesh_dim_names=("replica", "shard"))
    DeviceMesh('cpu', [[0]], mesh_dim_names=('replica', 'shard'))
    >>> dist.destroy_process_group()
    """
    if not groups.is_initialized():
        groups.init_process_group()
    size = groups.get_world_size()
    if math.prod(mesh_shape) != size:
        raise RuntimeError(
            f"init_device_mesh: a mesh of shape {tuple(mesh_shape)} needs as many ranks, and there are {size}"
        )
    ranks = lamella.arange(size).view(*mesh_shape)
    return DeviceMesh(device_type, ranks, mesh_dim_names=mesh_dim_names, backend_override=backend_override)
