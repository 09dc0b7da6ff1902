"""The tests of operators on quantized tensors again on device ``cuda``, or on the stand-in for it."""

from pathlib import Path

import pytest
from standins import guest

TESTS = Path(__file__).resolve().parents[2]


@pytest.mark.needs("autograd", "quantization")
@pytest.mark.long
def test_operators_on_cuda(tmp_path_factory):
    """The operators are right there, and kernels of the device serve all of them."""
    program = f"""
        import sys
        sys.path.insert(0, {str(TESTS)!r})
        import pytest
        assert pytest.main(["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", sys.argv[1]]) == 0
        import lamella
        assert not lamella.fallback_counts(), lamella.fallback_counts()
    """
    tests = TESTS / "plugins/quantization/test_quantized_operators.py"
    guest(tmp_path_factory, QUANTIZED_ON="cuda").run(program, str(tests))
