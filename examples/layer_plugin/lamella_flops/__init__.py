"""Counts floating-point operations per operator: ``native`` is a layer in C++, ``twin`` the same in Python.

Both have ``on()``, ``off()``, ``enable()``, ``counts()``, ``total()`` and ``reset()``, and both count by these rules:

============================  =================================================================
operator                      operations
============================  =================================================================
mm (m, k) x (k, n)            2mnk
bmm, b of them                2bmnk
pointwise                     one per element of the result, for any function and dtype
add, sub, rsub                one per element of the result, two where alpha is not 1
reductions (sum, mean, max)   one per element of the input
everything else               none: views, copies, creation, indexing, random numbers
============================  =================================================================

In-place and ``out=`` forms count like their functional form. For an operator that calls other operators, such as
matmul, only those are counted. A call that raises is not counted.
"""

import lamella  # noqa: F401  # imported first, since it imports native.py and twin.py as plugins
