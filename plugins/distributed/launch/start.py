"""``python -m lamella.distributed.launch.start COMMAND``: runs a command in a process that MPI's mpiexec or Slurm's
srun has started, with the environment that ``lamella launch`` gives."""

from __future__ import annotations

import os
import sys

# The first variable that is set says the number.
VARIABLES = {
    "RANK": ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"),
    "WORLD_SIZE": ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS"),
    "LOCAL_RANK": ("MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"),
    "LOCAL_WORLD_SIZE": ("MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE"),
}


def environment(given: dict[str, str]) -> dict[str, str]:
    """Returns an environment with torchrun's numbers, from those of MPI or Slurm.

    >>> from lamella.distributed.launch.start import environment
    >>> environment({"SLURM_PROCID": "3", "SLURM_NTASKS": "4", "SLURM_LOCALID": "1"})["RANK"]
    '3'
    """
    made = dict(given)
    for name, variables in VARIABLES.items():
        found = next((given[v] for v in variables if given.get(v)), None)
        if found is not None:
            made[name] = found
    made.setdefault("LOCAL_RANK", made.get("RANK", "0"))
    if "RANK" in made:
        made["ROLE_RANK"] = made["RANK"]
    return made


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: python -m lamella.distributed.launch.start COMMAND [ARG ...]")
    os.execvpe(sys.argv[1], sys.argv[1:], environment(dict(os.environ)))
