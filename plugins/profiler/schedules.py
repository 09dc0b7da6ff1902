"""When a profile records: actions, and schedules that give one for each step of a program."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum

from . import _python

__all__ = ["ProfilerAction", "ProfilerActivity", "schedule", "supported_activities"]


class ProfilerAction(Enum):
    """What a profile does in a step.

    ``NONE``: nothing; ``WARMUP``: it records and throws away; ``RECORD``: it records; ``RECORD_AND_SAVE``: it records
    the last step of a cycle, and hands the cycle to ``on_trace_ready``.

    >>> lamella.profiler.ProfilerAction.RECORD.name
    'RECORD'
    """

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


class ProfilerActivity(Enum):
    """What a profile records: ``CPU`` is what the host does, the others what the device of that name does.

    ``PrivateUse1`` is every device that tells its times. Instead of a member a device's name may stand, such as "bank".

    >>> lamella.profiler.ProfilerActivity.CPU.name
    'CPU'
    """

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


def supported_activities() -> set[ProfilerActivity]:
    """The activities that can be recorded here: the host's, and those of devices that are loaded and tell their times.

    >>> lamella.profiler.supported_activities()
    {<ProfilerActivity.CPU: 0>}
    """
    by_name = {activity.name.lower(): activity for activity in ProfilerActivity}
    devices = _python._traced_devices()
    return {ProfilerActivity.CPU, *(by_name.get(name, ProfilerActivity.PrivateUse1) for name in devices)}


def split_activities(activities: Iterable[ProfilerActivity | str] | None) -> tuple[bool, list[str]]:
    """Whether the host's activity is wanted, and the names of devices; "*" is each that tells its times.

    Raises:
        TypeError: one is neither an activity nor the name of a device
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
        if name == "cpu":
            host = True
        else:
            devices.append("*" if activity is ProfilerActivity.PrivateUse1 else name)
    return host, devices


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Callable[[int], ProfilerAction]:
    """A schedule: ``skip_first`` steps of nothing, then cycles of ``wait``, ``warmup`` and ``active`` steps.

    Args:
        wait, warmup, active: how many steps of a cycle do nothing, record and throw away, record
        repeat: how many cycles; 0: without end
        skip_first: steps before the first cycle
        skip_first_wait: not 0: the first cycle does not wait

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
