"""Exports a module, runs the graph with onnxruntime, and compares with the module's own results."""

from __future__ import annotations

from contextlib import nullcontext

import lamella
import numpy as np
import onnxruntime
from lamella import nn

onnxruntime.set_default_logger_severity(4)


def leaves(tree):
    """Returns the tensors of a tree, in order."""
    if isinstance(tree, lamella.Tensor):
        return [tree]
    parts = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list | tuple) else ()
    return [t for part in parts for t in leaves(part)]


def run(made, args):
    """Runs an exported model on the tensors of arguments, and returns its results as arrays."""
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    read = {i.name for i in session.get_inputs()}
    given = {i.name: t.detach().numpy() for i, t in zip(made.graph.input, leaves(args), strict=False)}
    return session.run(None, {name: array for name, array in given.items() if name in read})


def results(model, args):
    """Returns a module's results in eval mode, as arrays; the arguments are not written."""
    if isinstance(model, nn.Module):
        model.eval()

    def copy(tree):
        if isinstance(tree, lamella.Tensor):
            return tree.clone()
        if isinstance(tree, dict):
            return {k: copy(v) for k, v in tree.items()}
        if hasattr(tree, "_fields"):
            return type(tree)(*map(copy, tree))
        return type(tree)(map(copy, tree)) if isinstance(tree, list | tuple) else tree

    with lamella.no_grad() if hasattr(lamella, "no_grad") else nullcontext():
        return [t.detach().numpy() for t in leaves(model(*copy(args)))]


def same(got, wanted, rtol=2e-4, atol=2e-5):
    assert [(g.shape, g.dtype) for g in got] == [(w.shape, w.dtype) for w in wanted]
    for g, w in zip(got, wanted, strict=True):
        np.testing.assert_allclose(g, w, rtol=rtol, atol=atol)


def check(model, *args, others=(), **options):
    """Exports a module, and compares results for its example and for other arguments. Returns the exported model."""
    made = lamella.onnx.export(model, args, **options)
    for each in (args, *others):
        same(run(made, each), results(model, each))
    return made


def types(made):
    return [node.op_type for node in made.graph.node]
