"""Leaves the tests of transforms out where no plugin differentiates."""

import lamella

collect_ignore_glob = [] if hasattr(lamella, "no_grad") else ["test_*.py"]
