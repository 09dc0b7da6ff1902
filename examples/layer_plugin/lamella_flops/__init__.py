"""Counts floating-point operations per operator: ``native`` is a layer in C++, ``twin`` the same in Python.

Both have ``on()``, ``off()``, ``enable()``, ``counts()``, ``total()`` and ``reset()``, and both count by these rules:

============================  =================================================================
operator                      operations
============================  =================================================================
mm (m, k) x (k, n)            2mnk
bmm, b of them                2bmnk
pointwise                     one per element of the result, whatever the function and the dtype
add, sub, rsub                one per element of the result, two where alpha is not 1
reductions (sum, mean, max)   one per element of the input
everything else               none: views, copies, creation, indexing, random numbers
============================  =================================================================

In-place and ``out=`` forms count like their functional form. An operator that is written over others, such as matmul,
counts nothing itself; its parts do. A call that raises counts nothing.
"""

import lamella  # noqa: F401  # first: it imports the modules here as plugins
