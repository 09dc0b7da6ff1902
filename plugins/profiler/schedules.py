"""Schedules of profiles: a schedule gives the action of a profile for each step of a program."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum

from . import _python

__all__ = ["ProfilerAction", "ProfilerActivity", "schedule", "supported_activities"]


class ProfilerAction(Enum):
    """The action of a profile in one step of the program.

    ``NONE``: it does nothing; ``WARMUP``: it records and discards; ``RECORD``: it records; ``RECORD_AND_SAVE``: it
    records the last step of a cycle, and calls ``on_trace_ready`` with the cycle.

    >>> lamella.profiler.ProfilerAction.RECORD.name
    'RECORD'
    """

    NONE, WARMUP, RECORD, RECORD_AND_SAVE = 0, 1, 2, 3


class ProfilerActivity(Enum):
    """An activity that a profile records: ``CPU`` is the host's; any other name stands for the device of that name.

    ``PrivateUse1`` is every device whose backend traces its work. A device's name, such as "bank", may be given instead
    of a member.

    >>> lamella.profiler.ProfilerActivity.CPU.name
    'CPU'
    """

    CPU, XPU, MTIA, CUDA, HPU, PrivateUse1 = 0, 1, 2, 3, 4, 5


# The host, and the devices that torch has names for.
HOST = ProfilerActivity.CPU.name.lower()
DEVICES = tuple(activity.name.lower() for activity in ProfilerActivity if activity is not ProfilerActivity.CPU)


def supported_activities() -> set[ProfilerActivity]:
    """Returns the activities of the host and of the loaded devices whose backends trace their work.

    >>> lamella.profiler.supported_activities()
    {<ProfilerActivity.CPU: 0>}
    """
    by_name = {activity.name.lower(): activity for activity in ProfilerActivity}
    devices = _python._traced_devices()
    return {ProfilerActivity.CPU, *(by_name.get(name, ProfilerActivity.PrivateUse1) for name in devices)}


def split_activities(activities: Iterable[ProfilerActivity | str] | None) -> tuple[bool, list[str]]:
    """Returns whether the host's activity is wanted, and the names of devices; "*" means each that traces its work.

    Raises:
        TypeError: an element is neither an activity nor the name of a device
    """
    if activities is None:
        return True, ["*"]
    host, devices = False, []
    for activity in activities:
        if not isinstance(activity, (ProfilerActivity, str)):
            raise TypeError(
                "profile: argument 'activities' takes members of ProfilerActivity and names of devices, "
                f"got {type(activity).__name__}"
            )
        name = activity if isinstance(activity, str) else activity.name.lower()
        if name == HOST:
            host = True
        else:
            devices.append("*" if activity is ProfilerActivity.PrivateUse1 else name)
    return host, devices


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Callable[[int], ProfilerAction]:
    """Returns a schedule: ``skip_first`` steps of nothing, then cycles of ``wait``, ``warmup`` and ``active`` steps.

    Args:
        wait, warmup, active: the numbers of steps in a cycle that do nothing, record and discard, record
        repeat: the number of cycles; 0 means without end
        skip_first: steps before the first cycle
        skip_first_wait: if not 0, the first cycle does not wait

    Raises:
        ValueError: a number is negative, or ``active`` is 0

    >>> plan = lamella.profiler.schedule(wait=1, warmup=1, active=2)
    >>> [plan(step).name for step in range(4)]
    ['NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE']
    """
    numbers = {"wait": wait, "warmup": warmup, "active": active, "repeat": repeat, "skip_first": skip_first}
    for name, n in numbers.items():
        if n < 0:
            raise ValueError(f"schedule: argument '{name}' must not be negative, got {n}")
    if active == 0:
        raise ValueError("schedule: argument 'active' must be 1 at least, got 0")
    cycle = wait + warmup + active

    def plan(step: int) -> ProfilerAction:
        if step < 0:
            raise ValueError(f"schedule: a step must not be negative, got {step}")
        step -= skip_first
        if step < 0:
            return ProfilerAction.NONE
        if skip_first_wait:
            step += wait
        if repeat and step // cycle >= repeat:
            return ProfilerAction.NONE
        at = step % cycle
        if at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if at < cycle - 1 else ProfilerAction.RECORD_AND_SAVE

    return plan
