"""Sparse tensors: the public names of ``lamella.sparse``. ``docs/sparse.md`` is the guide.

>>> x = lamella.tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_csr()
>>> x @ lamella.ones(2)
tensor([2., 3.])
>>> x.values()
tensor([2., 3.])
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .arrays import from_scipy as from_scipy
    from .arrays import to_scipy as to_scipy
    from .functions import addmm as addmm
    from .functions import as_sparse_gradcheck as as_sparse_gradcheck
    from .functions import log_softmax as log_softmax
    from .functions import mm as mm
    from .functions import rows_of_table as rows_of_table
    from .functions import sampled_addmm as sampled_addmm
    from .functions import softmax as softmax
    from .functions import spdiags as spdiags
    from .functions import sum as sum
    from .invariants import check_sparse_tensor_invariants as check_sparse_tensor_invariants

# The public names by module; a module is imported when one of its names is first used.
NAMES = {
    "arrays": ("from_scipy", "to_scipy"),
    "functions": (
        "addmm",
        "as_sparse_gradcheck",
        "log_softmax",
        "mm",
        "rows_of_table",
        "sampled_addmm",
        "softmax",
        "spdiags",
        "sum",
    ),
    "invariants": ("check_sparse_tensor_invariants",),
}
if not TYPE_CHECKING:  # type checkers see the imports above
    __all__ = [name for names in NAMES.values() for name in names]


def __getattr__(name):
    for module, names in NAMES.items():
        if name in names:
            found = import_module(f"{__name__}.{module}")
            globals().update({n: getattr(found, n) for n in names})
            return globals()[name]
    raise AttributeError(f"module 'lamella.sparse' has no attribute '{name}'")


def __dir__():
    return sorted({*globals(), *__all__})
