"""What the tests of the profiler share: an observer for a block, and what a block sends to sys.unraisablehook."""

import contextlib
import sys

from lamella import profiler

FUNCTION, BACKWARD, USER, KERNEL = profiler.RecordScope


def callback(enter=None, leave=None, *, needs="", scopes=(FUNCTION,), p=1.0):
    """A RecordFunctionCallback; ``needs`` is some of the words inputs, outputs and ids."""
    made = profiler.RecordFunctionCallback(enter, leave).scopes(scopes).sampling_prob(p)
    for word in needs.split():
        getattr(made, f"needs_{word}")()
    return made


@contextlib.contextmanager
def observed(enter=None, leave=None, *, everywhere=True, **options):
    """An observer while the block runs; gives its handle."""
    add = profiler.add_global_callback if everywhere else profiler.add_thread_local_callback
    handle = add(callback(enter, leave, **options))
    try:
        yield handle
    finally:
        with contextlib.suppress(ValueError):  # it has been removed
            profiler.remove_callback(handle)


@contextlib.contextmanager
def names(**options):
    """The names that an observer hears of while the block runs."""
    heard = []
    with observed(lambda r: heard.append(r.name), **options):
        yield heard


@contextlib.contextmanager
def unraisable():
    """What arrives at sys.unraisablehook while the block runs: pairs of the exception and its place."""
    reported = []
    before, sys.unraisablehook = sys.unraisablehook, lambda u: reported.append((u.exc_value, str(u.object)))
    try:
        yield reported
    finally:
        sys.unraisablehook = before


def is_there(handle):
    """Whether an observer is still registered."""
    try:
        profiler.reenable_callback(handle)
    except ValueError:
        return False
    return True
