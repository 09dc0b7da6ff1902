"""Checkpoints: files of objects made of tensors and plain containers. Reading one never runs code."""

from __future__ import annotations

from lamella._checkpoints import load, save
from lamella._torch.files.archive import get_unsafe_globals_in_checkpoint
from lamella.serialization.errors import CheckpointError
from lamella.serialization.loading import list_tensors
from lamella.serialization.options import (
    LoadEndianness,
    SourceChangeWarning,
    default_restore_location,
    get_crc32_options,
    get_default_load_endianness,
    get_default_mmap_options,
    location_tag,
    register_package,
    set_crc32_options,
    set_default_load_endianness,
    set_default_mmap_options,
    skip_data,
)
from lamella.serialization.safe_globals import add_safe_globals, clear_safe_globals, get_safe_globals, safe_globals
from lamella.serialization.safetensors import load_safetensors, save_safetensors
from lamella.serialization.sharded import load_sharded, save_sharded

__all__ = [
    "CheckpointError",
    "LoadEndianness",
    "SourceChangeWarning",
    "add_safe_globals",
    "clear_safe_globals",
    "default_restore_location",
    "get_crc32_options",
    "get_default_load_endianness",
    "get_default_mmap_options",
    "get_safe_globals",
    "get_unsafe_globals_in_checkpoint",
    "list_tensors",
    "load",
    "load_safetensors",
    "load_sharded",
    "location_tag",
    "register_package",
    "safe_globals",
    "save",
    "save_safetensors",
    "save_sharded",
    "set_crc32_options",
    "set_default_load_endianness",
    "set_default_mmap_options",
    "skip_data",
]
