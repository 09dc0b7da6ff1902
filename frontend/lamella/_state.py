"""The state of a thread, which ``lamella.capture_state`` captures for other threads, tasks and processes."""

from __future__ import annotations

from _thread import _local
from typing import Any

from lamella import _C
from lamella.plugins import contributions


class CapturedState:
    """The state of a thread at the time of its capture. Each ``with`` block works on its own copy.

    A pickle holds the parts that make sense in another process: the default device, grad and inference mode, and the
    debug information, except values that cannot be pickled.
    """

    def __init__(self):
        self._held = _C._ThreadState()
        self._entered = _local()

    def __reduce__(self):
        with self:
            return _restored, (_settings(),)

    def __enter__(self):
        state = self._held.copy()
        state.swap()
        if not hasattr(self._entered, "states"):
            self._entered.states = []
        self._entered.states.append(state)
        return self

    def __exit__(self, *_):
        self._entered.states.pop().swap()

    def run(self, function, /, *args, **kwargs):
        """Calls ``function(*args, **kwargs)`` with the state on the calling thread, and returns its result.

        >>> from concurrent.futures import ThreadPoolExecutor
        >>> with ThreadPoolExecutor(1) as pool, lamella.no_grad():
        ...     pool.submit(lamella.capture_state().run, lamella.is_grad_enabled).result()
        False
        """
        with self:
            return function(*args, **kwargs)

    def wrap(self, coroutine):
        """Returns an awaitable that runs a coroutine with the state. Tasks that run between its steps do not see it.

        >>> import asyncio
        >>> async def task():
        ...     await asyncio.sleep(0)
        ...     return lamella.is_grad_enabled()
        >>> with lamella.no_grad():
        ...     state = lamella.capture_state()
        >>> asyncio.run(state.wrap(task())), lamella.is_grad_enabled()
        (False, True)
        """
        return _steps(self._held.copy(), coroutine.__await__())


async def _steps(state, steps):
    """Runs the steps of a coroutine, each with the state that the previous step left on the thread."""
    return await _Stepping(state, steps)


class _Stepping:
    """An awaitable iterator that runs each step of a coroutine with the state."""

    def __init__(self, state, steps):
        self.state, self.steps = state, steps

    def __await__(self):
        return self

    def __iter__(self):
        return self

    def __next__(self):
        return self.send(None)

    def send(self, value):
        return self._step(self.steps.send, value)

    def throw(self, *error):
        return self._step(self.steps.throw, *error)

    def close(self):
        return self._step(self.steps.close)

    def _step(self, step, *values):
        self.state.swap()
        try:
            return step(*values)
        finally:
            self.state.swap()


def _brought(name: str) -> Any:
    """Returns the object that a plugin has contributed to ``lamella`` under a name; None if no plugin has."""
    held = contributions.place("lamella").used.get(name)
    return held.object if held else None


def _settings() -> dict[str, Any]:
    """Returns the settings of the calling thread that can be pickled."""
    import pickle

    info = {}
    if (profiler := _brought("profiler")) is not None:
        for kind, value in profiler.all_debug_info().items():
            try:
                info[kind] = pickle.dumps(value)
            except Exception:  # a class that cannot be pickled may raise any exception
                continue
    return {"device": str(_C._get_default_device()), "modes": _modes(), "info": info}


def _modes() -> tuple[bool, bool] | None:
    """Returns whether grad mode and inference mode are on; None without the plugin autograd."""
    grad, inference = _brought("is_grad_enabled"), _brought("is_inference_mode_enabled")
    return (grad(), inference()) if grad and inference else None


def _restored(settings: dict[str, Any]) -> CapturedState:
    """Makes a state from that of the calling thread, changed to the settings of another process."""
    import pickle
    from contextlib import ExitStack

    with CapturedState(), ExitStack() as stack:
        if settings["device"] != str(_C._get_default_device()):
            _C._set_default_device(settings["device"])
        if settings["modes"] is not None and settings["modes"] != _modes():
            grad, inference = settings["modes"]
            stack.enter_context(_brought("inference_mode")(inference))
            stack.enter_context(_brought("set_grad_enabled")(grad))
        if (profiler := _brought("profiler")) is not None:
            for kind, value in settings["info"].items():
                try:
                    known = pickle.loads(value)
                except Exception:  # the class of the value cannot be imported in this process
                    continue
                stack.enter_context(profiler.debug_info(kind, known))
        return CapturedState()
