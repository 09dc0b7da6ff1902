"""Shares of a sweep: three days in a row take everything once."""

import datetime

import shares


def test_three_days_take_all(monkeypatch):
    monkeypatch.setenv("LAMELLA_SWEEP", "turn")
    items = list(range(100))
    days = [datetime.date(2026, 12, 30) + datetime.timedelta(days=i) for i in range(3)]
    taken = [shares.share(items, day) for day in days]
    assert sorted(sum(taken, [])) == items and all(33 <= len(t) <= 34 for t in taken)


def test_without_turns_a_run_takes_all(monkeypatch):
    monkeypatch.delenv("LAMELLA_SWEEP", raising=False)
    assert shares.share("abc") == ["a", "b", "c"]
