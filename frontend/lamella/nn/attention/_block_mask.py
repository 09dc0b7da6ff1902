"""BlockMask: lists of the blocks of queries and keys that attention computes; and the function that makes one."""

from __future__ import annotations

from typing import Any

import lamella
from lamella import Tensor
from lamella.nn.attention._masks import BLOCK, MaskMod, computed, create_mask, listed, noop_mask, pair, unlisted

LISTS = ("kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices",
         "q_num_blocks", "q_indices", "full_q_num_blocks", "full_q_indices")  # fmt: skip


class BlockMask:
    """A mask of blocks. ``mask_mod`` gives the elements of a block that is listed; those of a full block are all True.

    ``create_block_mask`` and `from_kv_blocks` make one.

    Attributes:
        seq_lengths: the numbers of queries and keys
        kv_num_blocks: for each batch, head and row of blocks, how many blocks of keys are listed
        kv_indices: their indices
        full_kv_num_blocks, full_kv_indices: the same for full blocks; or None
        q_num_blocks, q_indices, full_q_num_blocks, full_q_indices: the same by blocks of keys; or None
        BLOCK_SIZE: the numbers of queries and of keys of a block
        mask_mod: the function of batch, head, query and key

    >>> flex = lamella.nn.attention.flex_attention
    >>> mask = flex.create_block_mask(lambda b, h, q, k: q >= k, None, None, 256, 256)
    >>> mask.shape, mask.to_dense()[0, 0]
    ((1, 1, 256, 256), tensor([[1, 0],
            [1, 1]], dtype=lamella.int32))
    """

    def __init__(
        self,
        seq_lengths: tuple[int, int],
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None,
        full_kv_indices: Tensor | None,
        q_num_blocks: Tensor | None,
        q_indices: Tensor | None,
        full_q_num_blocks: Tensor | None,
        full_q_indices: Tensor | None,
        BLOCK_SIZE: tuple[int, int] = (BLOCK, BLOCK),
        mask_mod: MaskMod = noop_mask,
    ):
        if kv_indices.ndim < 2:
            raise RuntimeError(f"BlockMask: kv_indices must have at least 2 dimensions, got {kv_indices.ndim}")
        for one, other in (("full_kv_num_blocks", full_kv_num_blocks), ("q_num_blocks", q_num_blocks)):
            partner = full_kv_indices if one == "full_kv_num_blocks" else q_indices
            if (other is None) != (partner is None):
                raise AssertionError(f"BlockMask: {one} and its indices must both be given, or neither")
        self.seq_lengths, self.BLOCK_SIZE, self.mask_mod = tuple(seq_lengths), tuple(BLOCK_SIZE), mask_mod
        self.kv_num_blocks, self.kv_indices = kv_num_blocks, kv_indices
        self.full_kv_num_blocks, self.full_kv_indices = full_kv_num_blocks, full_kv_indices
        self.q_num_blocks, self.q_indices = q_num_blocks, q_indices
        self.full_q_num_blocks, self.full_q_indices = full_q_num_blocks, full_q_indices

    @classmethod
    def from_kv_blocks(
        cls,
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None = None,
        full_kv_indices: Tensor | None = None,
        BLOCK_SIZE: int | tuple[int, int] = BLOCK,
        mask_mod: MaskMod | None = None,
        seq_lengths: tuple[int, int] | None = None,
        compute_q_blocks: bool = True,
    ) -> BlockMask:
        """Makes a mask of lists of blocks, by rows of blocks of queries.

        Args:
            kv_num_blocks: shape (B, H, rows)
            kv_indices: shape (B, H, rows, columns)
            full_kv_num_blocks, full_kv_indices: the same for blocks whose elements are all True
            BLOCK_SIZE: the numbers of queries and of keys of a block
            mask_mod: the function of the elements; None means all
            seq_lengths: the numbers of queries and keys; None means whole blocks
            compute_q_blocks: whether the lists by blocks of keys are made

        >>> flex = lamella.nn.attention.flex_attention
        >>> numbers, indices = lamella.tensor([[[1, 2]]]), lamella.tensor([[[[0, 1], [0, 1]]]])
        >>> flex.BlockMask.from_kv_blocks(numbers, indices, BLOCK_SIZE=2).to_dense()[0, 0]
        tensor([[1, 0],
                [1, 1]], dtype=lamella.int32)
        """
        if kv_indices.ndim < 2:
            raise RuntimeError(f"from_kv_blocks: kv_indices must have at least 2 dimensions, got {kv_indices.ndim}")
        size = pair("from_kv_blocks", BLOCK_SIZE)
        rows, columns = kv_indices.shape[-2:]
        lengths = (rows * size[0], columns * size[1]) if seq_lengths is None else tuple(seq_lengths)
        of_q: list[Tensor | None] = [None] * 4
        if compute_q_blocks:
            of_q[:2] = listed(unlisted(kv_num_blocks, kv_indices, columns).transpose(-2, -1))
            if full_kv_num_blocks is not None and full_kv_indices is not None:
                of_q[2:] = listed(unlisted(full_kv_num_blocks, full_kv_indices, columns).transpose(-2, -1))
        lists = (kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices, *of_q)
        arguments: Any = (lengths, *lists, size, noop_mask if mask_mod is None else mask_mod)
        return cls(*arguments)

    def as_tuple(self, flatten: bool = True) -> tuple[Any, ...]:
        """Returns lengths, lists, sizes of a block and function, in the order of the constructor's arguments."""
        lists = tuple(getattr(self, name) for name in LISTS)
        if flatten:
            return (*self.seq_lengths, *lists, *self.BLOCK_SIZE, self.mask_mod)
        return (self.seq_lengths, *lists, self.BLOCK_SIZE, self.mask_mod)

    @property
    def shape(self) -> tuple[int, ...]:
        """The numbers of batches, heads, queries and keys."""
        return (*self.kv_indices.shape[:-2], *self.seq_lengths)

    def numel(self) -> int:
        """Returns the number of elements of the mask."""
        found = 1
        for n in self.shape:
            found *= n
        return found

    def sparsity(self) -> float:
        """Returns how many percent of the elements lie in blocks that are left out.

        The number is negative if the last blocks extend beyond the sequences.
        """
        counted = int(self.kv_num_blocks.sum())
        if self.full_kv_num_blocks is not None:
            counted += int(self.full_kv_num_blocks.sum())
        return 100 * (1 - counted * self.BLOCK_SIZE[0] * self.BLOCK_SIZE[1] / (self.numel() or 1))

    def _blocks(self) -> tuple[Tensor, Tensor | None]:
        """Returns the listed blocks, and the full ones, as bool tensors (B, H, rows, columns)."""
        columns = -(-self.seq_lengths[1] // self.BLOCK_SIZE[1])
        partial = unlisted(self.kv_num_blocks, self.kv_indices, columns)
        if self.full_kv_num_blocks is None or self.full_kv_indices is None:
            return partial, None
        return partial, unlisted(self.full_kv_num_blocks, self.full_kv_indices, columns)

    def to_dense(self) -> Tensor:
        """Returns the blocks that are computed, as 1 in a tensor (B, H, rows, columns) of int32."""
        partial, full = self._blocks()
        return (partial if full is None else partial | full).to(lamella.int32)

    def elements(self, B: int, H: int, Q_LEN: int, KV_LEN: int) -> Tensor:
        """Returns the mask's elements as a bool tensor (B, H, Q_LEN, KV_LEN), for sequences of at most its lengths."""

        def spread(blocks: Tensor) -> Tensor:
            wide = blocks.repeat_interleave(self.BLOCK_SIZE[0], dim=-2).repeat_interleave(self.BLOCK_SIZE[1], dim=-1)
            return wide[..., :Q_LEN, :KV_LEN]

        partial, full = self._blocks()
        found = spread(partial)
        if self.mask_mod is not noop_mask:
            sizes = (B, H, Q_LEN, KV_LEN)
            found = found & computed("flex_attention", self.mask_mod, sizes, (), found.device).to(lamella.bool)
        return (found if full is None else found | spread(full)).expand(B, H, Q_LEN, KV_LEN)

    def __getitem__(self, index: Any) -> BlockMask:
        """Returns the mask of some batches and heads; ints keep their dimension."""
        index = index if isinstance(index, tuple) else (index,)
        kept = tuple(slice(i, i + 1 if i + 1 else None) if isinstance(i, int) else i for i in index)
        lists = [None if getattr(self, name) is None else getattr(self, name)[kept] for name in LISTS]
        arguments: Any = (self.seq_lengths, *lists, self.BLOCK_SIZE, self.mask_mod)
        return BlockMask(*arguments)

    def to(self, device: Any) -> BlockMask:
        """Returns the mask with its lists on a device. Tensors that ``mask_mod`` reads stay where they are."""
        lists = [None if getattr(self, name) is None else getattr(self, name).to(device) for name in LISTS]
        arguments: Any = (self.seq_lengths, *lists, self.BLOCK_SIZE, self.mask_mod)
        return BlockMask(*arguments)

    def to_string(self, grid_size: int | tuple[int, int] = (20, 20), limit: int = 4) -> str:
        """Returns a picture of each batch and head: a full mark for blocks that are computed, a space for others.

        Args:
            grid_size: the most rows and columns of a picture; -1 shows all blocks
            limit: the most pictures
        """
        dense = self.to_dense()
        rows, columns = dense.shape[-2:]
        most = pair_of(grid_size, rows, columns)
        flat = dense.reshape(-1, rows, columns)
        heads = [tuple(i) for i in _indices(dense.shape[:-2])]
        pictures = []
        for name, picture in list(zip(heads, flat, strict=True))[:limit]:
            high, wide = -(-rows // most[0]), -(-columns // most[1])
            lines = []
            for top in range(0, rows, high):
                marks = (picture[top : top + high, left : left + wide] for left in range(0, columns, wide))
                lines.append("".join(_mark(float(m.float().mean())) for m in marks))
            pictures.append(f"{name}\n" + "\n".join(lines))
        return "\n\n".join(pictures) + ("\n..." if len(heads) > limit else "")

    def __str__(self) -> str:
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%,\n{self.to_string()}\n)"

    def __repr__(self) -> str:
        lists = [f"{n}={None if getattr(self, n) is None else tuple(getattr(self, n).shape)}" for n in LISTS]
        name = getattr(self.mask_mod, "__name__", str(self.mask_mod))
        words = [f"shape={self.shape}", *lists, f"BLOCK_SIZE={self.BLOCK_SIZE}", f"mask_mod={name}"]
        return f"BlockMask({', '.join(words)})"


def pair_of(grid_size: int | tuple[int, int], rows: int, columns: int) -> tuple[int, int]:
    """Returns the most rows and columns of a picture."""
    if grid_size == -1:
        return max(rows, 1), max(columns, 1)
    return (grid_size, grid_size) if isinstance(grid_size, int) else grid_size


def _indices(shape: Any) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = [()]
    for n in shape:
        found = [(*head, i) for head in found for i in range(n)]
    return found


def _mark(part: float) -> str:
    return "██" if part == 1 else "░░" if part > 0 else "  "


def create_block_mask(
    mask_mod: MaskMod,
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
    BLOCK_SIZE: int | tuple[int, int] = BLOCK,
    _compile: bool = False,
    separate_full_blocks: bool = True,
) -> BlockMask:
    """Makes a block mask of a function of its elements.

    Args:
        mask_mod: ``mask_mod(b, h, q_idx, kv_idx)`` is True if the query attends to the key. It is called once with
            tensors of all indices, and computes by elements
        B, H: the numbers of batches and heads for which the mask differs; None means 1, which serves all
        Q_LEN, KV_LEN: the numbers of queries and keys
        BLOCK_SIZE: the numbers of queries and of keys of a block
        separate_full_blocks: lists blocks whose elements are all True apart, as full ones

    Raises:
        AssertionError: the function does not take four arguments
        ValueError: its result does not broadcast to (B, H, Q_LEN, KV_LEN)

    >>> flex = lamella.nn.attention.flex_attention
    >>> mask = flex.create_block_mask(lambda b, h, q, k: q >= k, None, None, 256, 256)
    >>> mask.kv_num_blocks, mask.full_kv_num_blocks
    (tensor([[[1, 1]]], dtype=lamella.int32), tensor([[[0, 1]]], dtype=lamella.int32))
    """
    size = pair("create_block_mask", BLOCK_SIZE)
    mask = create_mask(mask_mod, B, H, Q_LEN, KV_LEN, device)
    if mask.dtype is not lamella.bool:
        raise AssertionError("create_block_mask: argument 'mask_mod' must take batch, head, query and key")
    rows, columns = -(-Q_LEN // size[0]), -(-KV_LEN // size[1])
    padded = lamella.nn.functional.pad(mask, (0, columns * size[1] - KV_LEN, 0, rows * size[0] - Q_LEN))
    counts = padded.view(*mask.shape[:2], rows, size[0], columns, size[1]).sum(dim=(-3, -1))
    full = counts == size[0] * size[1]
    partial = listed((counts > 0) & ~full if separate_full_blocks else counts > 0)
    whole: tuple[Tensor | None, Tensor | None] = listed(full) if separate_full_blocks else (None, None)
    return BlockMask.from_kv_blocks(*partial, *whole, BLOCK_SIZE=size, mask_mod=mask_mod, seq_lengths=(Q_LEN, KV_LEN))
