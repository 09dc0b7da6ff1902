"""The model around a graph: its inputs and outputs with their types, versions, and the check."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import onnx.checker
import onnx.shape_inference
from onnx import helper

from .errors import OnnxExporterError
from .graph import onnx_type
from .lower import Lowering
from .sizes import Size


def model_of(run, records, fit, axes, opset, more, export_params, as_inputs, custom_opsets) -> Any:
    """Writes the records of a run as a model, and checks it."""
    first = records[0]
    names = list(run.output_names)
    if len(names) > len(first.outputs):
        raise ValueError(f"export: 'output_names' has {len(names)} names for {len(first.outputs)} tensors")
    taken = {v.name for v in first.values}
    for i in range(len(names), len(first.outputs)):
        name = f"output_{i}" if len(first.outputs) > 1 else "output"
        names.append(f"{name}_" if name in taken else name)
    if len(set(names)) < len(names) or taken & set(names):
        raise ValueError(f"export: the names of outputs must differ from each other and the inputs', got {names}")
    lowering = Lowering(records, fit, opset, more, export_params)
    inputs = lowering.run(names)
    graph, of_outputs = lowering.graph, axes[1]
    made_inputs = [_info(n, n.dtype, n.shape, {}) for n in inputs]
    outputs = [
        _info(n, v.dtype, lowering.shape_of_output(i), of_outputs.get(n, {}))
        for i, (n, v) in enumerate(zip(names, first.outputs, strict=True))
    ]
    if as_inputs or not export_params:
        state = (v for v in first.values if v.kind == "state" and v.number in graph.values)
        made_inputs += [_info(v.name, v.dtype, v.shape, {}) for v in state]
    nodes = shortened(graph.nodes, set(names), {i.name for i in made_inputs} | {*graph.initializers})
    versions = {domain: (custom_opsets or {}).get(domain, 1) for domain in sorted(graph.domains - {""})}
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(d, v) for d, v in versions.items())]
    title = type(run.model).__name__ if not hasattr(run.model, "__name__") else run.model.__name__
    made = helper.make_model(
        helper.make_graph(nodes, title, made_inputs, outputs, list(graph.initializers.values())),
        opset_imports=opsets,
        ir_version=helper.find_min_ir_version_for(opsets[:1]),
        producer_name="lamella",
        producer_version=version("lamella"),
    )
    if made.ByteSize() < 2**31 - 2**20:  # larger ones cannot be checked in memory
        try:
            onnx.checker.check_model(made, full_check=not versions)
        except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
            raise OnnxExporterError(f"export: ONNX does not allow this graph, perhaps for a dtype: {error}") from error
    return made


def shortened(nodes: list[Any], outputs: set[str], fixed: set[str]) -> list[Any]:
    """Gives an output the place of the value that an Identity copies to it, where the value has no other name."""
    made = {name: node for node in nodes for name in node.output}
    kept = []
    renamed: dict[str, str] = {}
    for node in nodes:
        [name], source = node.output[:1], node.input[0] if node.input else ""
        if node.op_type == "Identity" and name in outputs and source in made and source not in {*renamed, *fixed}:
            renamed[source] = name
        else:
            kept.append(node)
    for node in kept:
        for field in (node.input, node.output):
            changed = [renamed.get(n, n) for n in field]
            del field[:]
            field.extend(changed)
    return kept


def _info(name: str, dtype: Any, shape: Any, axes: Any) -> Any:
    """Returns the type of an input or output. A size that depends on dynamic axes has a name."""
    sizes = [axes.get(d, n.name or repr(n).replace(" ", "")) if isinstance(n, Size) else n for d, n in enumerate(shape)]
    return helper.make_tensor_value_info(name, onnx_type(dtype), sizes)
