"""Layer, a registered layer, which a library or a program switches on; and the kernel that a layer passes over."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lamella import _C

if TYPE_CHECKING:
    from ._library import Library


def fallthrough_kernel(*args: Any, **kwargs: Any) -> Any:
    """Passed to ``impl`` as the kernel for a layer: the operator falls through it.

    >>> lib = lamella.library.Library("aten", "IMPL")
    >>> layer = lamella.library.register_layer("noisy", lambda call, *args, **kwargs: print(call.name) or call(*args))
    >>> _ = lib.impl("exp", lamella.library.fallthrough_kernel, "noisy")
    >>> with layer.on():
    ...     _ = lamella.ones(1).exp().neg()
    aten::ones
    aten::neg
    >>> layer.remove()
    >>> lib.close()
    """
    raise NotImplementedError("fallthrough_kernel() should never be called: it is passed to Library.impl")


@dataclass(frozen=True)
class Layer:
    """A registered layer: on inside ``with layer.on():``, or for the whole process with ``layer.always(True)``."""

    name: str
    bit: int
    handle: int
    library: Library
    # Holds the handle of `process_include` while the layer is on for the whole process.
    _always: list[int] = field(default_factory=list, compare=False, repr=False)

    def _mask(self) -> int:
        """Returns the layer's bit in sets of layers, or 0 once it is removed, since another layer may have it then."""
        removed = self.library is not None and not self.library.holds(self.handle)  # a native plugin's has no library
        return 0 if removed else 1 << self.bit

    @contextmanager
    def _switched(self, on: bool):
        """Switches the layer on or off in this thread inside the block, and its bit alone back at the end."""
        mask = self._mask()
        include, exclude = before = _C._thread_layers()
        if on:
            _C._set_thread_layers(include | mask, exclude & ~mask)
        else:
            _C._set_thread_layers(include, exclude | mask)
        try:
            yield self
        finally:
            kept = self._mask()  # 0 if the layer was removed inside the block
            now = (bits & ~mask | old & kept for bits, old in zip(_C._thread_layers(), before, strict=True))
            _C._set_thread_layers(*now)

    def on(self):
        """Makes the layer see every call of this thread inside the block. A removed layer sees none."""
        return self._switched(True)

    def off(self):
        """Makes the layer see no call of this thread inside the block."""
        return self._switched(False)

    def always(self, on: bool) -> None:
        """Switches the layer on or off for every thread of the process. A removed layer stays off."""
        mask = self._mask()
        if on and not self._always and mask:
            self.library._check_open()
            self._always.append(self.library._library.process_include(mask))
        elif not on and self._always:
            handle = self._always.pop()
            if not self.library._closed:  # closing the library has withdrawn it
                self.library._library.withdraw(handle)

    def remove(self) -> None:
        """Withdraws the layer."""
        self.always(False)
        self.library.withdraw(self.handle)
