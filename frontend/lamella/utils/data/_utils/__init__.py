"""How a DataLoader fetches, collates and hands over; ``collate`` is what programs import."""

from lamella.utils.data._utils import collate, fetch, pin_memory, worker  # noqa: F401

MP_STATUS_CHECK_INTERVAL = 5.0
"""How many seconds a loader that ends waits for a worker to finish its batch before it stops the worker."""
