"""Runs every benchmark; prints the table of plugins, each table with its bounds, and the rows that miss a bound."""

from __future__ import annotations

import os
import platform
import sys

os.environ["OMP_NUM_THREADS"] = "1"  # set before the import of any library that reads it
os.environ["OPENBLAS_NUM_THREADS"] = "1"


def main() -> int:
    import autograd
    import backend
    import call_path
    import checkpoints
    import collectives
    import convolution
    import data
    import data_parallel
    import distributions
    import fft
    import graph
    import import_order
    import imports
    import indexing
    import lamella
    import lamella.cli
    import linalg
    import loading
    import matmul
    import modules
    import named
    import node
    import normalization
    import numpy
    import observability
    import pointwise
    import pooling
    import programs
    import quantization
    import random_numbers
    import reductions
    import sharing
    import small
    import sorting
    import sparse
    import special
    import torch
    import training
    import transforms

    import extensions

    versions = [f"{m.__name__} {m.__version__}" for m in (lamella, torch, numpy)]
    print(", ".join([f"python {platform.python_version()}", *versions]))
    print(f"{os.cpu_count()} processors, {processor()}\n\n{lamella.cli.plugins()}\n")
    rows = (
        call_path.main()
        + imports.main()
        + autograd.main()
        + modules.main()
        + named.main()
        + quantization.main()
        + sparse.main()
        + graph.main()
        + programs.main()
        + node.main()
        + training.main()
        + transforms.main()
        + observability.main()
        + data.main()
        + checkpoints.main()
        + collectives.main()
        + data_parallel.main()
        + sharing.main()
        + extensions.main()
        + loading.main()
    )
    catalogue = (
        *(pointwise, reductions, normalization, pooling, convolution, matmul, indexing, sorting, random_numbers),
        *(linalg, fft, special, distributions, small),
    )
    families = [family for module in catalogue for family in module.main()]
    if any(p.name == "bank" for p in lamella.plugins.status()):
        backend.main()
    orders = import_order.main()
    print(*(family.summary() for family in families), sep="\n")
    short = [r.name for r in [*rows, *families] if not r.holds]
    print(f"{len(rows)} rows and {len(families)} families; short: {', '.join(short) or 'none'}")
    return 0 if orders else 1


def processor() -> str:
    with open("/proc/cpuinfo") as f:
        return next((line.partition(":")[2].strip() for line in f if line.startswith("model name")), "unknown")


if __name__ == "__main__":
    sys.exit(main())
