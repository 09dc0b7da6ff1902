"""The errors and the warning of ``lamella.onnx``, which are ``lamella.onnx.errors``."""

__all__ = ["OnnxExporterError", "TracerWarning", "UnsupportedOperatorError"]


class OnnxExporterError(RuntimeError):
    """A module cannot be exported as it is; the message says what to change.

    >>> issubclass(lamella.onnx.errors.UnsupportedOperatorError, lamella.onnx.OnnxExporterError)
    True
    """


class UnsupportedOperatorError(OnnxExporterError):
    """A module calls an operator that has no translation; `lamella.onnx.register` adds one."""


class TracerWarning(UserWarning):
    """A value that is computed from an input has become a Python number, which is a constant in the graph."""


def module_at(path: str) -> str:
    """Returns the words for the module of a path, for errors."""
    return f"the module {path!r}" if path else "the module"
