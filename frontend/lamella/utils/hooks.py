"""RemovableHandle, the handle of a hook, under the name by which programs for torch import it."""

from lamella.nn.modules._hooks import RemovableHandle

__all__ = ["RemovableHandle"]
