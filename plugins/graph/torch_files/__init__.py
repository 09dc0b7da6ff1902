"""Programs that torch saved: ``.pt`` of ``torch.jit.save`` and ``.pt2`` of ``torch.export.save``, for ``jit.load``.

zips.py reads the archive. Of a ``.pt``, ``lamella.serialization.torch_programs`` reads the objects, and syntax.py the
code, whose form is that of Python; program.py and compiler.py make graphs of it by the compiler of ``jit.script``, and
scripted.py the module. Of a ``.pt2``, exported.py and nodes.py make a graph of the JSON. Nothing of a file is run.
"""

from __future__ import annotations

from typing import Any

from lamella.plugins.graph.torch_files.zips import TorchZip, opened

__all__ = ["TorchZip", "load", "opened"]


def load(archive: TorchZip, map_location: Any) -> Any:
    """Returns the module of an archive that `opened` found.

    Raises:
        CheckpointError: the file is damaged, or names operators that are not here; the message names the member
    """
    if archive.kind == "pt":
        from lamella.plugins.graph.torch_files.scripted import load_scripted

        return load_scripted(archive, map_location)
    from lamella.plugins.graph.torch_files.exported import load_exported

    return load_exported(archive, map_location)
