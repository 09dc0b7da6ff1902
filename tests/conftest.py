"""What every test folder shares: hypothesis without deadlines, and process-wide settings put back after each test."""

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "lattis",
    deadline=None,
    derandomize=True,
    max_examples=20,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("lattis")


@pytest.fixture(autouse=True)
def settings_put_back():
    """Default dtype, default device, number of threads and seed are the same before and after a test."""
    import lattis

    dtype, threads, seed = lattis.get_default_dtype(), lattis.get_num_threads(), lattis.initial_seed()
    yield
    lattis.set_default_dtype(dtype)
    lattis.set_default_device(None)
    lattis.set_num_threads(threads)
    lattis.manual_seed(seed)
