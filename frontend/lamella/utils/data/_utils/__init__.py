"""The parts of a DataLoader: fetching, collating, and passing batches on. Programs import ``collate``."""

from lamella.utils.data._utils import collate, fetch, pin_memory, worker  # noqa: F401

MP_STATUS_CHECK_INTERVAL = 5.0
"""The seconds that an ending loader waits for a worker to finish its batch, before it stops the worker."""
