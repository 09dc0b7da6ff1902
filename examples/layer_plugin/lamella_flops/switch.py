"""Switches a layer on and off, for a block, a thread or the process. Used by ``native`` and ``twin``."""

import threading


class Switch:
    """The switch of a layer: ``find()`` returns the ``Layer``, ``always(on)`` switches it for the process."""

    def __init__(self, find, always):
        self.find, self.always = find, always
        self.local = threading.local()  # .block: the context manager that enable() entered on this thread

    def on(self):
        """Returns a context manager within which this thread's calls are counted."""
        return self.find().on()

    def off(self):
        """Returns a context manager within which this thread's calls are not counted."""
        return self.find().off()

    def enable(self, on: bool = True, *, process: bool = False) -> None:
        """Switches counting on or off, for this thread or for every thread of the process."""
        if process:
            self.always(on)
            return
        block = getattr(self.local, "block", None)
        if on and block is None:
            self.local.block = self.on()
            self.local.block.__enter__()
        elif not on and block is not None:
            self.local.block = None
            block.__exit__(None, None, None)
