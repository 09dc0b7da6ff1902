"""Helpers for tests of the profiler: an observer for a block, and the errors sent to sys.unraisablehook in a block."""

import contextlib
import sys

from lamella import profiler

FUNCTION, BACKWARD, USER, KERNEL = profiler.RecordScope


def callback(enter=None, leave=None, *, needs="", scopes=(FUNCTION,), p=1.0):
    """Makes a RecordFunctionCallback; ``needs`` has some of the words inputs, outputs and ids."""
    made = profiler.RecordFunctionCallback(enter, leave).scopes(scopes).sampling_prob(p)
    for word in needs.split():
        getattr(made, f"needs_{word}")()
    return made


@contextlib.contextmanager
def observed(enter=None, leave=None, *, everywhere=True, **options):
    """Adds an observer while the block runs; yields its handle."""
    add = profiler.add_global_callback if everywhere else profiler.add_thread_local_callback
    handle = add(callback(enter, leave, **options))
    try:
        yield handle
    finally:
        with contextlib.suppress(ValueError):  # the block may have removed it
            profiler.remove_callback(handle)


@contextlib.contextmanager
def names(**options):
    """Yields a list of the names that an observer gets while the block runs."""
    heard = []
    with observed(lambda r: heard.append(r.name), **options):
        yield heard


@contextlib.contextmanager
def unraisable():
    """Yields a list of the errors sent to sys.unraisablehook in the block: pairs of the exception and its place."""
    reported = []
    before, sys.unraisablehook = sys.unraisablehook, lambda u: reported.append((u.exc_value, str(u.object)))
    try:
        yield reported
    finally:
        sys.unraisablehook = before


def is_there(handle):
    """Returns whether an observer is still registered."""
    try:
        profiler.reenable_callback(handle)
    except ValueError:
        return False
    return True
