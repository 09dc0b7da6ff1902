"""`export`: runs a module at the sizes that are needed, and writes the graph."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import lamella
from lamella import nn

from .arguments import TrainingMode, axes_by_tree, axes_of, by_parameter, check_taken, leaves, rebuilt, split_args
from .errors import OnnxExporterError
from .record import Record, Recorder
from .sizes import Fit, Source
from .table import checked, find

OPSETS = range(18, 24)  # the versions of ONNX's operators for which the translations hold
_running: list[Any] = []
_LOCK = threading.RLock()  # one export at a time, since the recorder's layer has a name


def is_in_onnx_export() -> bool:
    """Returns whether an export is running, so that a module can take another way in it.

    >>> lamella.onnx.is_in_onnx_export()
    False
    """
    return bool(_running)


def export(
    model: Any,
    args: Any = (),
    f: str | os.PathLike[str] | Any = None,
    *,
    kwargs: Mapping[str, Any] | None = None,
    export_params: bool = True,
    verbose: bool | None = None,
    training: TrainingMode = TrainingMode.EVAL,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    opset_version: int | None = None,
    do_constant_folding: bool = True,
    dynamic_axes: Mapping[str, Any] | None = None,
    dynamic_shapes: Any = None,
    keep_initializers_as_inputs: bool = False,
    custom_opsets: Mapping[str, int] | None = None,
    custom_translation_table: Mapping[str, Any] | None = None,
    external_data: bool = False,
    **others: Any,
) -> Any:
    """Exports a module to ONNX: runs it, records the operators that it calls, and writes them as a graph.

    Parameters and buffers are initializers with their names in ``state_dict``. Inputs and outputs are the tensors of
    trees of tuples, lists and dictionaries, in their order. Values that Python computes, as by ``item()``, are
    constants, and so is what a condition decides.

    Args:
        model: a module, or a function of tensors
        args: a tensor, or a tuple of the arguments; the last may be a dictionary of keyword arguments
        f: a path or a file that is open for bytes; with None the model is only returned
        kwargs: the keyword arguments
        export_params: with False the parameters and buffers are inputs of the graph
        verbose: prints the graph
        training: the mode in which the module runs; `TrainingMode`
        input_names: names of the first inputs; without, they have those of the parameters of ``forward``
        output_names: names of the first outputs
        opset_version: the version of ONNX's operators, 18 to 23; 18 by default
        do_constant_folding: whether operators on constants are computed now
        dynamic_axes: by the name of an input or output, a dictionary from dimensions to names of axes, or a list of
            dimensions. Axes of one name have one size. The module runs at further sizes of each axis.
        dynamic_shapes: the same as a tree like that of the arguments, with a dictionary for each tensor
        keep_initializers_as_inputs: whether parameters and buffers are inputs beside initializers
        custom_opsets: versions of the domains of nodes that translations write, 1 by default
        custom_translation_table: translations for this export, as `register` takes them, by operator
        external_data: whether the values of initializers are in a file beside ``f``; always above 2 GB
        others: arguments of torch's function, with values that mean what is done here anyway

    Returns:
        The model, an ``onnx.ModelProto``.

    Raises:
        ImportError: the package ``onnx`` is not installed
        lamella.onnx.OnnxExporterError: the module cannot be exported; UnsupportedOperatorError if an operator has no
            translation
        ValueError: names do not fit the inputs or outputs, or the version is not one of those above

    >>> model = lamella.nn.Sequential(lamella.nn.Linear(4, 2), lamella.nn.ReLU())
    >>> made = lamella.onnx.export(model, lamella.ones(1, 4), dynamic_axes={"input": {0: "batch"}})
    >>> [node.op_type for node in made.graph.node]
    ['Gemm', 'Relu']
    """
    check_taken(others)
    onnx = require_onnx()
    opset = OPSETS[0] if opset_version is None else opset_version
    if opset not in OPSETS:
        raise ValueError(f"export: 'opset_version' must be from {OPSETS[0]} to {OPSETS[-1]}, got {opset_version!r}")
    args, kwargs = split_args(model, args, kwargs)
    more = dict(checked(name, function) for name, function in (custom_translation_table or {}).items())
    run = Run(model, args, kwargs, list(input_names or ()), list(output_names or ()), more, do_constant_folding)
    with _LOCK, _mode(model, training):
        _running.append(run)
        try:
            records, fit, axes = run.all(dynamic_axes, dynamic_shapes)
        finally:
            _running.pop()
    from .write import model_of

    made = model_of(run, records, fit, axes, opset, more, export_params, keep_initializers_as_inputs, custom_opsets)
    if verbose:
        print(onnx.printer.to_text(made))
    if f is not None:
        save(onnx, made, f, external_data)
    return made


def require_onnx() -> Any:
    """Imports the package ``onnx`` and returns it."""
    try:
        import onnx
        import onnx.checker
        import onnx.printer
    except ImportError as error:
        raise ImportError(
            "lamella.onnx.export needs the package onnx, which is not installed here; "
            'install it by: python -m pip install "lamella[onnx]"'
        ) from error
    return onnx


def save(onnx: Any, made: Any, f: Any, external_data: bool) -> None:
    external_data = external_data or made.ByteSize() > 2**31 - 2**20
    if not isinstance(f, str | os.PathLike):
        if external_data:
            raise OnnxExporterError("export: 'f' must be a path, since the values lie in a file of their own beside it")
        f.write(made.SerializeToString())
        return
    path = Path(f)
    beside = {"all_tensors_to_one_file": True, "location": f"{path.name}.data", "convert_attribute": False}
    if external_data:
        path.with_name(f"{path.name}.data").unlink(missing_ok=True)  # onnx appends to a file that is there
    copy = onnx.ModelProto()
    copy.CopyFrom(made)  # saving moves the values out of the model
    onnx.save_model(copy, str(path), save_as_external_data=external_data, **(beside if external_data else {}))


@contextmanager
def _mode(model: Any, training: Any) -> Iterator[None]:
    """Switches the modes of all modules, and back."""
    if not isinstance(training, TrainingMode):
        raise TypeError(f"export: 'training' must be one of {', '.join(map(str, TrainingMode))}, got {training!r}")
    if not isinstance(model, nn.Module):
        if not callable(model):
            raise TypeError(f"export: 'model' must be a module or a function, got {type(model).__name__}")
        yield
        return
    before = [(m, m.training) for m in model.modules()]
    if training is not TrainingMode.PRESERVE:
        model.train(training is TrainingMode.TRAINING)
    try:
        yield
    finally:
        for module, was in before:
            module.training = was


class Run:
    """The runs of a module, and what they have in common."""

    def __init__(self, model, args, kwargs, input_names, output_names, more, fold):
        self.model, self.args, self.kwargs, self.more, self.fold = model, args, kwargs, more, fold
        self.output_names = output_names
        self.tree = by_parameter(model, args, kwargs)
        self.inputs = {path: t for path, t in leaves(self.tree) if isinstance(t, lamella.Tensor)}
        self.state = dict(_state(model)) if isinstance(model, nn.Module) else {}
        if len(input_names) > len(self.inputs):
            raise ValueError(f"export: 'input_names' has {len(input_names)} names for {len(self.inputs)} tensors")
        self.names = dict(zip(self.inputs, input_names, strict=False))
        for path in self.inputs:
            taken = {*self.state, *self.names.values()}
            self.names.setdefault(path, f"input_{path}" if path in taken else path)
        given = list(self.names.values())
        if twice := {n for n in given if given.count(n) > 1 or n in self.state}:
            raise ValueError(f"export: the names of inputs must differ from each other and the state's, got {twice}")

    def all(self, dynamic_axes: Any, dynamic_shapes: Any) -> tuple[list[Record], Fit, Any]:
        """Runs the module at the example's sizes and at those that dynamic axes need."""
        if dynamic_axes and dynamic_shapes:
            raise ValueError("export: pass 'dynamic_axes' or 'dynamic_shapes', not both")
        ranks = {self.names[path]: t.ndim for path, t in self.inputs.items()}
        axes, of_outputs = axes_of(list(ranks), ranks, self.output_names, dynamic_axes)
        if dynamic_shapes:
            axes = {self.names[p]: a for p, a in axes_by_tree(self.tree, dynamic_shapes).items()}
        sizes: dict[str, int] = {}
        for path, t in self.inputs.items():
            for d, axis in axes.get(self.names[path], {}).items():
                if sizes.setdefault(axis, t.shape[d]) != t.shape[d]:
                    raise ValueError(f"export: axis {axis!r} has sizes {sizes[axis]} and {t.shape[d]} in the example")
        from .plan import plan

        runs, records = plan(sizes, lambda chosen: self.once(chosen, axes))
        fit = Fit(runs)
        for value in records[0].inputs:
            for d, axis in axes.get(value.name, {}).items():
                fit.sources.setdefault(axis, Source(value.number, d))
        return records, fit, (axes, of_outputs)

    def once(self, sizes: dict[str, int], axes: Mapping[str, Mapping[int, str]]) -> Record:
        """Runs the module at some sizes of the axes, and returns what it has recorded."""
        recorder = Recorder(self.state, lambda op, given: self._translated(op, given), self.fold)
        made = {}
        for path, t in self.inputs.items():
            t = t.detach()
            for d, axis in axes.get(self.names[path], {}).items():
                if sizes[axis] != t.shape[d]:
                    places = lamella.arange(sizes[axis], device=t.device) % t.shape[d]
                    t = t.index_select(d, places)
            made[path] = t.clone()
            recorder.input(made[path], self.names[path])
        tree = rebuilt(self.tree, lambda path, leaf: made.get(path, leaf))
        names = list(self.tree)
        args = [tree[name] for name in names[: len(self.args)]]
        kwargs = {name: tree[name] for name in names[len(self.args) :]}
        with ExitStack() as stack:
            if isinstance(self.model, nn.Module):
                stack.callback(_follow(self.model, recorder.path))
            if hasattr(lamella, "no_grad"):  # the plugin autograd brings it
                stack.enter_context(lamella.no_grad())
            stack.enter_context(recorder.on())
            result = self.model(*args, **kwargs)
            for path, t in leaves(result):
                if isinstance(t, lamella.Tensor):
                    recorder.output(t)
                elif t is not None:
                    raise OnnxExporterError(
                        f"export: the output {path or 'of the module'} is {type(t).__name__}; outputs are tensors, and "
                        "tuples, lists and dictionaries of them"
                    )
        if not recorder.record.outputs:
            raise OnnxExporterError("export: the module returns no tensor")
        return recorder.record

    def _translated(self, op: str, given: dict[str, Any]) -> bool:
        found = find(op, self.more)
        return found is not None and (found.condition is None or bool(found.condition(given)))


def _state(model: nn.Module) -> Iterator[tuple[str, Any]]:
    yield from model.named_parameters()
    yield from model.named_buffers()


def _follow(model: nn.Module, path: list[str]) -> Any:
    """Keeps the path of the module that is running at the end of a list. Returns the function that ends this."""

    def leave(*_: Any) -> None:
        path.pop()

    handles = []
    for name, module in model.named_modules():
        handles.append(module.register_forward_pre_hook(lambda *_, name=name: path.append(name)))
        handles.append(module.register_forward_hook(leave, always_call=True))
    return lambda: [handle.remove() for handle in handles]
