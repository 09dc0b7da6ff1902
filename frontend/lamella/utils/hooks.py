"""The handle of a hook, where torch's programs import it from."""

from lamella.nn.modules._hooks import RemovableHandle

__all__ = ["RemovableHandle"]
