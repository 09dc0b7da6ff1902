"""Oracles of bags of rows, of rows of bounded length, and of CTC: all alignments of labels, one by one."""

from __future__ import annotations

import itertools

import numpy as np

from oracles.base import entries


def shortened(line, p, most):
    length = np.linalg.norm(line.reshape(-1), p)
    return line * (most / (length + 1e-7)) if length > most else line


def renorm(x, p, dim, most):
    made = x.copy()
    for i in range(x.shape[dim]):
        at = (slice(None),) * (dim % x.ndim) + (i,)
        made[at] = shortened(x[at], p, most)
    return made


def embedding_renorm(table, indices, most, p):
    made = table.copy()
    for i in set(indices.reshape(-1).tolist()):
        made[i] = shortened(table[i], p, most)
    return made


def embedding_bag(w, index, offsets, freq=False, mode=0, sparse=False, weights=None, last=False, padding=None):
    padding = padding + len(w) if padding is not None and padding < 0 else padding
    begin = offsets.tolist() + ([] if last else [len(index)])
    out, bag, sizes = [], np.zeros(len(index), np.int64), []
    for b, (i, j) in enumerate(itertools.pairwise(begin)):
        bag[i:j] = b
        kept = [k for k in range(i, j) if index[k] != padding]
        rows = w[index[kept]] * (1 if weights is None else weights[kept, None])
        sizes.append(len(kept))
        reduced = (np.sum, np.mean, np.max)[mode]
        out.append(reduced(rows, 0) if kept else np.zeros(w.shape[1]))
    return np.array(out).reshape(-1, w.shape[1]), bag, np.array(sizes, np.int64), None


def collapsed(path, blank):
    """Returns the labels of an alignment: repeats are merged, then blanks removed."""
    return tuple(k for k, _ in itertools.groupby(path) if k != blank)


def ctc_loss(logs, targets, steps, lengths, blank=0, reduction=1, zero_infinity=False):
    single = logs.ndim == 2
    logs = logs[:, None] if single else logs
    steps, lengths = (np.asarray(n).reshape(-1).tolist() for n in (steps, lengths))
    first, losses = 0, []
    for n, (t, s) in enumerate(zip(steps, lengths, strict=True)):
        label = tuple((targets[n, :s] if targets.ndim == 2 else targets[first : first + s]).tolist())
        first += s
        paths = (p for p in itertools.product(range(logs.shape[2]), repeat=t) if collapsed(p, blank) == label)
        total = sum(np.exp(sum(logs[i, n, k] for i, k in enumerate(p))) for p in paths)
        losses.append(-np.log(total) if total else 0.0 if zero_infinity else np.inf)
    losses = np.array(losses)
    if reduction == 0:
        return losses[0] if single else losses
    return losses.sum() if reduction == 2 else (losses / np.maximum(lengths, 1)).mean()


entries(renorm=renorm, embedding_renorm_=embedding_renorm, embedding_bag=embedding_bag, ctc_loss=ctc_loss)
