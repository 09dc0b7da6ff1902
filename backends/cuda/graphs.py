"""Graphs of ``lamella.cuda``, by torch's names: a training step is captured once and replayed as a whole."""

from __future__ import annotations

import weakref
from typing import Any

import lamella


def _index(device: Any = None) -> int:
    cuda = lamella.cuda  # type: ignore[attr-defined]
    return cuda.current_device() if device is None else lamella.device(device).index or 0


def _destroy(handle: int, index: int) -> None:
    lamella.cuda.synchronize(index)  # type: ignore[attr-defined]
    lamella.ops.cuda._graph_destroy(handle)


class CUDAGraph:
    """The work that was queued on a stream during a capture; ``replay`` queues it again, on the current stream.

    Memory that the captured work allocated belongs to the graph while it lives: tensors made in the capture keep their
    places, and each replay writes them anew. Each replay draws the random numbers that the captured calls would draw
    then.
    """

    def __init__(self) -> None:
        self._handle: int | None = None
        self._index = 0
        self._finalizer: Any = None
        self._capturing = False

    def capture_begin(self, pool: Any = None, capture_error_mode: str = "global") -> None:
        """Begins to capture the work that is queued on the current stream, which must not be the default one.

        ``pool`` and ``capture_error_mode`` have no effect.

        Raises:
            RuntimeError: the graph holds a capture already (``reset`` it first), or the stream is the default one
        """
        if self._handle is not None:
            raise RuntimeError("CUDAGraph.capture_begin: the graph holds a capture already; call reset() first")
        self._index = _index()
        self._handle = lamella.ops.cuda._graph_begin(self._index)
        self._capturing = True

    def capture_end(self) -> None:
        """Ends the capture and makes the graph ready."""
        if self._handle is None or not self._capturing:
            raise RuntimeError("CUDAGraph.capture_end: no capture has begun")
        self._capturing = False
        self._finalizer = weakref.finalize(self, _destroy, self._handle, self._index)
        lamella.ops.cuda._graph_end(self._handle)

    def replay(self) -> None:
        """Queues the captured work again, on the current stream."""
        if self._handle is None or self._capturing:
            raise RuntimeError("CUDAGraph.replay: the graph has not been captured")
        lamella.ops.cuda._graph_replay(self._handle)

    def reset(self) -> None:
        """Drops the capture and frees its memory."""
        if self._finalizer is not None:
            self._finalizer()
        self._handle = self._finalizer = None

    def pool(self) -> tuple[int, int]:
        """A name of the graph's memory, another one for each captured graph; ``capture_begin`` ignores it."""
        return (self._index, self._handle or 0)


class graph:  # noqa: N801  (torch's name)
    """``with lamella.cuda.graph(g):`` captures the block into ``g``, on a stream of its own.

    Args:
        cuda_graph: a CUDAGraph
        pool: without effect, as ``capture_error_mode``
        stream: the stream to capture; None for a new one
    """

    def __init__(
        self, cuda_graph: CUDAGraph, pool: Any = None, stream: Any = None, capture_error_mode: str = "global"
    ) -> None:
        if not isinstance(cuda_graph, CUDAGraph):
            raise TypeError(f"graph: argument 'cuda_graph' must be a CUDAGraph, got {type(cuda_graph).__name__}")
        self._graph, self._stream = cuda_graph, stream
        self._entered: Any = None

    def __enter__(self) -> None:
        cuda = lamella.cuda  # type: ignore[attr-defined]
        cuda.synchronize()
        self._stream = self._stream or cuda.Stream()
        # The graph uses the stream's memory. While the graph keeps this object, no new Stream gets the native stream.
        self._graph._stream = self._stream  # type: ignore[attr-defined]
        self._entered = cuda.stream(self._stream)
        self._entered.__enter__()
        try:
            self._graph.capture_begin()
        except BaseException:
            self._entered.__exit__(None, None, None)
            raise

    def __exit__(self, *error: Any) -> None:
        try:
            self._graph.capture_end()
        except RuntimeError:
            if error[0] is None:  # else the block's own error is more useful
                raise
        finally:
            self._entered.__exit__(None, None, None)


def is_current_stream_capturing() -> bool:
    """Whether work of the current stream is captured into a graph."""
    return lamella.ops.cuda._is_capturing(_index())
