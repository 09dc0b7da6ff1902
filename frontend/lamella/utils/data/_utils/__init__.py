"""The parts of a DataLoader: fetching, collating, and passing batches on. Programs import ``collate``."""

from lamella.utils.data._utils import collate, fetch, pin_memory, worker  # noqa: F401

MP_STATUS_CHECK_INTERVAL = 5.0
"""The seconds that an ending loader waits for its workers to finish their batches, before it stops them."""
