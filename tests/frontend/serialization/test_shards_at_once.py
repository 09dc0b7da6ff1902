"""Folders of shards: one is read while it is saved, and two processes save into one."""

import fcntl
import multiprocessing
import os
import threading

import lamella
import pytest
from lamella.serialization import load_sharded, save_sharded, sharded

BOUND = 60
context = multiprocessing.get_context("fork")


def save(folder, value, times):
    for _ in range(times):
        save_sharded([lamella.full((4,), float(value)) for _ in range(4)], folder, 16, durable=False)


def whole(made):
    return len({t[0].item() for t in made}) == 1 and len(made) == 4


def test_a_reader_sees_one_checkpoint_or_the_next(tmp_path):
    save(tmp_path, 0, 1)
    writer = context.Process(target=save, args=(tmp_path, 1, 60))
    writer.start()
    try:
        reads = 0
        while writer.is_alive() or reads < 5:
            assert whole(load_sharded(tmp_path, mmap=reads % 2 == 0))
            reads += 1
        writer.join(BOUND)
    finally:
        writer.kill()
    assert writer.exitcode == 0 and len(os.listdir(tmp_path)) == 5


def test_a_save_behind_the_index_takes_nothing_from_a_reader(tmp_path, monkeypatch):
    """A save comes after the reader has read the index but no shard, or while the reader has the shards open."""
    save(tmp_path, 0, 1)
    hold, turns = sharded.Shards._hold, []

    def held(shards):
        if len(turns) < 2:
            save(tmp_path, len(turns) + 1, 1)
        turns.append(hold(shards))
        save(tmp_path, 9, 1)
        return turns[-1]

    monkeypatch.setattr(sharded.Shards, "_hold", held)
    assert [t[0].item() for t in load_sharded(tmp_path)] == [9] * 4
    assert turns == [False, False, True]


def test_two_savers(tmp_path):
    savers = [context.Process(target=save, args=(tmp_path, n, 20)) for n in range(2)]
    for saver in savers:
        saver.start()
    try:
        for saver in savers:
            saver.join(BOUND)
    finally:
        for saver in savers:
            saver.kill()
    assert [s.exitcode for s in savers] == [0, 0]
    assert whole(load_sharded(tmp_path)) and len(os.listdir(tmp_path)) == 5


def test_a_saver_waits_and_says_so(tmp_path, monkeypatch):
    fd = os.open(tmp_path, os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        monkeypatch.setattr(sharded, "PATIENCE", 0.05)
        with pytest.raises(TimeoutError, match="another save into"):
            save(tmp_path, 1, 1)
        monkeypatch.setattr(sharded, "PATIENCE", BOUND)
        thread = threading.Thread(target=save, args=(tmp_path, 2, 1))
        thread.start()
    finally:
        os.close(fd)
    thread.join(BOUND)
    assert [t[0].item() for t in load_sharded(tmp_path)] == [2] * 4


def test_only_the_shards_that_are_asked_for_must_be_there(tmp_path):
    names = save_sharded([lamella.ones(4), lamella.zeros(4)], tmp_path, 16)
    (tmp_path / names[1]).unlink()
    assert load_sharded(tmp_path, tensors=["1"])["1"].tolist() == [0] * 4
    with pytest.raises(FileNotFoundError, match=names[1]):
        load_sharded(tmp_path)


def test_more_shards_than_are_held_open(tmp_path, monkeypatch):
    monkeypatch.setattr(sharded, "MOST_OPEN", 2)
    before = len(os.listdir("/proc/self/fd"))
    save(tmp_path, 3, 1)
    assert whole(load_sharded(tmp_path)) and len(os.listdir("/proc/self/fd")) == before
