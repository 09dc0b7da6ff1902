"""Rows of a table, looked up one by one or reduced in bags."""

from __future__ import annotations

from typing import Any

import lamella.nn.functional as F
import lamella.nn.init as init
from lamella._C import Tensor
from lamella.nn.modules.linear import empty_parameter
from lamella.nn.modules.module import Module
from lamella.nn.parameter import Parameter

__all__ = ["Embedding", "EmbeddingBag"]


class Embedding(Module):
    """The rows of a table (num_embeddings, embedding_dim) at given indices.

    Args:
        padding_idx: a row that gets no gradient, and starts at 0 in a new table
        max_norm: rows that are read and exceed this norm are first scaled down to it, in the table itself
        norm_type: the order p of the norm
        scale_grad_by_freq: the gradient of a row is divided by the number of its uses
        sparse: the gradient of ``weight`` has layout ``sparse_coo``: see `lamella.sparse`

    Names: those of the indices, and at the end that of the weight's last dimension.

    >>> lamella.nn.Embedding(10, 3)(lamella.tensor([[1, 2, 4, 5], [4, 3, 2, 9]])).shape
    lamella.Size([2, 4, 3])
    """

    weight: Any

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise AssertionError(f"Embedding: padding_idx {padding_idx} is out of range for {num_embeddings} rows")
            padding_idx %= num_embeddings
        self.padding_idx, self.max_norm, self.norm_type = padding_idx, max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        if _weight is None:
            self.weight = empty_parameter(num_embeddings, embedding_dim, device=device, dtype=dtype)
            if _freeze:
                self.requires_grad_(False)
            self.reset_parameters()
        else:
            if tuple(_weight.shape) != (num_embeddings, embedding_dim):
                raise AssertionError(
                    f"Embedding: argument '_weight': expected shape {(num_embeddings, embedding_dim)}, got "
                    f"{tuple(_weight.shape)}"
                )
            self.weight = Parameter(_weight, requires_grad=not _freeze)

    def reset_parameters(self) -> None:
        """Draws new values from a normal distribution."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            self.weight.detach()[self.padding_idx].fill_(0)

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self) -> str:
        parts = [f"{self.num_embeddings}, {self.embedding_dim}"]
        usual = (("padding_idx", None), ("max_norm", None), ("norm_type", 2), ("scale_grad_by_freq", False))
        parts += [f"{name}={getattr(self, name)}" for name, value in usual if getattr(self, name) != value]
        return ", ".join(parts + ["sparse=True"] * (self.sparse is not False))

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Embedding:
        """Returns an Embedding over an existing table. With ``freeze`` it is not trained.

        >>> table = lamella.nn.Embedding.from_pretrained(lamella.tensor([[1.0, 2.0], [3.0, 4.0]]))
        >>> table(lamella.tensor([1]))
        tensor([[3., 4.]])
        """
        if embeddings.dim() != 2:
            raise AssertionError(
                f"{cls.__name__}.from_pretrained: argument 'embeddings': expected a table of two dimensions, got shape "
                f"{tuple(embeddings.shape)}"
            )
        rows, columns = embeddings.shape
        return cls(
            rows,
            columns,
            padding_idx,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            sparse,
            _weight=embeddings,
            _freeze=freeze,
        )


class EmbeddingBag(Module):
    """The "sum", "mean" or "max" of the rows of a table (num_embeddings, embedding_dim) at the indices of each bag.

    Args:
        max_norm: rows that are read and exceed this norm are first scaled down to it, in the table itself
        norm_type: the order p of the norm
        scale_grad_by_freq: the gradient of a row is divided by the number of its uses; not with "max"
        mode: "sum", "mean" or "max"
        sparse: the gradient of ``weight`` has layout ``sparse_coo``: see `lamella.sparse`
        include_last_offset: the last offset is the end of the last bag
        padding_idx: a row that is left out of bags, gets no gradient, and starts at 0 in a new table

    Names: bags have that of ``offsets``, the last dimension has that of the weight's last one.

    >>> bags = lamella.nn.EmbeddingBag.from_pretrained(lamella.tensor([[1.0, 2.0], [3.0, 4.0]]), mode="sum")
    >>> bags(lamella.tensor([0, 1, 1]), lamella.tensor([0, 2]))
    tensor([[4., 6.],
            [3., 4.]])
    """

    weight: Any

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.max_norm, self.norm_type, self.scale_grad_by_freq = max_norm, norm_type, scale_grad_by_freq
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise AssertionError(
                    f"EmbeddingBag: padding_idx {padding_idx} is out of range for {num_embeddings} rows"
                )
            padding_idx %= num_embeddings
        self.padding_idx = padding_idx
        if _weight is None:
            self.weight = empty_parameter(num_embeddings, embedding_dim, device=device, dtype=dtype)
            self.reset_parameters()
        else:
            if tuple(_weight.shape) != (num_embeddings, embedding_dim):
                raise AssertionError(
                    f"EmbeddingBag: argument '_weight': expected shape {(num_embeddings, embedding_dim)}, got "
                    f"{tuple(_weight.shape)}"
                )
            self.weight = Parameter(_weight)
        self.mode, self.sparse, self.include_last_offset = mode, sparse, include_last_offset

    def reset_parameters(self) -> None:
        """Draws new values from a normal distribution."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            self.weight.detach()[self.padding_idx].fill_(0)

    def forward(self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None) -> Tensor:
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self) -> str:
        parts = [f"{self.num_embeddings}, {self.embedding_dim}"]
        usual = (("max_norm", None), ("norm_type", 2), ("scale_grad_by_freq", False))
        parts += [f"{name}={getattr(self, name)}" for name, value in usual if getattr(self, name) != value]
        parts.append(f"mode={self.mode!r}")
        return ", ".join(parts + [f"padding_idx={self.padding_idx}"] * (self.padding_idx is not None))

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> EmbeddingBag:
        """Returns an EmbeddingBag over an existing table. With ``freeze`` it is not trained.

        >>> bags = lamella.nn.EmbeddingBag.from_pretrained(lamella.tensor([[1.0, 2.0], [3.0, 4.0]]))
        >>> bags(lamella.tensor([[0, 1]]))
        tensor([[2., 3.]])
        """
        if embeddings.dim() != 2:
            raise AssertionError(
                f"{cls.__name__}.from_pretrained: argument 'embeddings': expected a table of two dimensions, got shape "
                f"{tuple(embeddings.shape)}"
            )
        rows, columns = embeddings.shape
        made = cls(
            rows,
            columns,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            mode,
            sparse,
            embeddings,
            include_last_offset,
            padding_idx,
        )
        return made.requires_grad_(False) if freeze else made
