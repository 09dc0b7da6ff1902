"""Checkpoints: objects of tensors and plain containers in files, and back. Nothing that is read can run code."""

from __future__ import annotations

from lamella.serialization.errors import CheckpointError
from lamella.serialization.loading import list_tensors, load
from lamella.serialization.saving import save
from lamella.serialization.sharded import load_sharded, save_sharded

__all__ = ["CheckpointError", "list_tensors", "load", "load_sharded", "save", "save_sharded"]
