"""A function that decides by the value of a tensor: what jit.trace says of it, and what jit.script makes of it.

A trace has the operators that one call made, so a branch is lost: a trace of `my_function` returns the same constant
whatever the input is. `jit.trace` raises an error for that reason, or with `strict=False` gives a warning. The script
has both branches. Graphs of this function that talks on torch show differ in two nodes: `torch.tensor` calls `detach`
there, and `bool(tensor)` is `prim::Bool` there and `aten::Bool` here.
"""

import warnings

import lamella
from lamella import jit


def my_function(x):
    if x.mean() > 1.0:
        r = lamella.tensor(1.0)
    else:
        r = lamella.tensor(2.0)
    return r


@jit.script
def my_script(x):
    if bool(x.mean() > 1.0):
        r = 1
    else:
        r = 2
    return r


def main():
    small, large = lamella.ones(2, 2), lamella.ones(2, 2) + 1
    try:
        jit.trace(my_function, small)
    except RuntimeError as error:
        print("RuntimeError:", error, "\n")

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        traced = jit.trace(my_function, small, strict=False)
    print("TracerWarning:", caught[0].message, "\n")
    print("traced:", traced.graph, sep="\n")
    print("of ones, of twos:", traced(small), traced(large), "\n")

    print("scripted:", my_script.graph, sep="\n")
    print("of ones, of twos:", my_script(small), my_script(large))


if __name__ == "__main__":
    main()
