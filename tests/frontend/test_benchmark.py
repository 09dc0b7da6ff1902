"""utils.benchmark: times, statistics against numpy, tables, random sizes; statements in Python and C++."""

import time

import lamella
import numpy as np
import pytest
from lamella.utils import benchmark
from lamella.utils.benchmark import Compare, FuzzedParameter, FuzzedTensor, Fuzzer, Measurement, TaskSpec, Timer


class Clock:
    """A timer that only `work` advances: by each of the given seconds in turn, and then always by the last."""

    def __init__(self, *seconds):
        self.now, self.left, self.runs = 0.0, list(seconds), 0

    def __call__(self):
        return self.now

    def work(self):
        self.runs += 1
        self.now += self.left.pop(0) if len(self.left) > 1 else self.left[0]

    def timer(self):
        return Timer("work()", globals={"work": self.work}, timer=self)


def test_timeit_counts_runs():
    clock = Clock(5.0, 5.0, 0.25)
    m = clock.timer().timeit(200)
    assert clock.runs == 202 and m.raw_times == [50.0] and m.number_per_run == 200 and m.median == 0.25


def test_a_real_sleep():
    m = Timer("sleep(0.01)", globals={"sleep": time.sleep}).blocked_autorange(min_run_time=0.05)
    assert 0.01 <= m.median < 1 and sum(m.raw_times) >= 0.05


def test_setup_and_names():
    m = Timer("y = x + lamella.ones(1) + torch.ones(1)\nassert y == 5", "x = 3").timeit(3)
    assert m.number_per_run == 3
    with pytest.raises(NameError):
        Timer("no_such_name").timeit(1)
    with pytest.raises(ValueError, match="'global_setup' is for C"):
        Timer("pass", global_setup="#include <vector>")
    with pytest.raises(ValueError, match="must be 'python' or 'c"):
        Timer("pass", language="fortran")
    for call in (Timer().repeat, Timer().autorange, Timer().collect_callgrind):
        with pytest.raises(NotImplementedError):
            call()


def test_threads_are_set_and_restored():
    seen, before = [], lamella.get_num_threads()
    Timer("f()", globals={"f": lambda: seen.append(lamella.get_num_threads())}, num_threads=3).timeit(2)
    assert set(seen) == {3} and lamella.get_num_threads() == before


def test_adaptive_autorange_stops_when_the_times_agree():
    steady = Clock(1.0).timer().adaptive_autorange(min_run_time=2.5, max_run_time=100)
    assert steady.raw_times == [1.0] * 3
    calls = []
    spread = (
        Clock(*[1.0, 9.0] * 60)
        .timer()
        .adaptive_autorange(threshold=0.01, max_run_time=40, callback=lambda n, s: calls.append((n, s)))
    )
    assert 40 <= sum(spread.raw_times) < 50 and [s for _, s in calls] == spread.raw_times


def test_blocks_are_long_enough():
    m = Timer("x.exp()", globals={"x": lamella.ones(3)}).blocked_autorange(min_run_time=0.2)
    assert m.number_per_run >= 10 and min(m.raw_times) > 1e-5 and sum(m.raw_times) >= 0.2


def spec(**changes):
    return TaskSpec(
        **{"stmt": "f()", "setup": "pass", "label": "calls", "sub_label": "f", "description": "ours", **changes}
    )


@pytest.mark.parametrize("n", [1, 2, 5, 8, 101])
def test_statistics(n):
    raw = np.random.default_rng(n).gamma(3, size=n)
    m = Measurement(4, list(raw), spec())
    low, high = np.quantile(raw / 4, [0.25, 0.75])
    assert m.times == pytest.approx(raw / 4) and m.median == pytest.approx(np.median(raw / 4))
    assert m.mean == pytest.approx(raw.mean() / 4) and m.iqr == pytest.approx(high - low)


def test_significant_digits_follow_the_spread():
    random = np.random.default_rng(0)
    few = Measurement(1, list(random.normal(100, 20, 30)), spec())
    many = Measurement(1, list(random.normal(100, 20, 30000)), spec())
    sharp = Measurement(1, list(random.normal(100, 0.01, 3000)), spec())
    assert few.significant_figures < many.significant_figures < sharp.significant_figures
    assert few.has_warnings and not sharp.has_warnings and "interquartile range" in repr(few)
    assert not few.meets_confidence(0.05) and sharp.meets_confidence(0.05)
    with pytest.raises(RuntimeError, match="there are no times"):
        Measurement(1, [], spec()).median  # noqa: B018


def test_merging():
    a, b, c = Measurement(10, [1.0], spec()), Measurement(100, [20.0], spec()), Measurement(1, [3.0], spec(env="x"))
    merged = Measurement.merge([a, b, c])
    assert [m.times for m in merged] == [[0.1, 0.2], [3.0]]


def test_descriptions():
    m = Measurement(1, [2.5e-6], spec(env="a", setup="x = 1"))
    assert m.title == "calls: f" and m.as_row_name == "f" and m.env == "a" and m.num_threads == 1 and m.label == "calls"
    assert m.task_spec.summarize().splitlines() == ["calls: f", "ours", "env: a", "setup: x = 1"]
    assert spec(label=None, sub_label=None).title == "f()" and Measurement(1, [1.0], spec()).env == "Unspecified env"
    assert "2.50 us" in repr(m) and spec(label=None, stmt="a\nb").title == "stmt: (f)\n  a\n  b"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        m.nothing  # noqa: B018


def test_units():
    units = [benchmark.select_unit(t)[0] for t in (3e-12, 2e-9, 5e-6, 0.9999e-3, 0.2, 7.0, 100)]
    assert units == ["ns", "ns", "us", "ms", "ms", "s", "s"] and benchmark.unit_to_english("ms") == "millisecond"
    assert [benchmark.trim_sigfig(x, 2) for x in (123.0, 0.00456, 0.0, -98.7)] == [120.0, 0.0046, 0.0, -99.0]
    assert benchmark.ordered_unique("banana") == ["b", "a", "n"]


class TestCompare:
    def results(self):
        for threads in (1, 2):
            for name, base in (("small", 1e-6), ("large", 4e-6)):
                for who, factor in (("ours", 1.0), ("theirs", 3.0)):
                    times = [base * factor / threads] * 3
                    yield Measurement(
                        1000, [t * 1000 for t in times], spec(sub_label=name, description=who, num_threads=threads)
                    )

    def test_table(self):
        text = str(Compare(self.results()))
        rows = [line.split() for line in text.splitlines()]
        assert rows[0][1:-1] == ["calls"] and rows[1] == ["|", "ours", "|", "theirs"]
        assert rows[2][:2] == ["1", "threads:"] and rows[5][:2] == ["2", "threads:"]
        assert rows[3] == ["small", "|", "1000", "|", "3000"] and rows[7] == ["large", "|", "2000", "|", "6000"]
        assert text.rstrip().endswith("Times are in nanoseconds (ns).")
        assert len({len(line) for line in text.splitlines()[2:8] if "|" in line}) == 1

    def test_a_missing_cell_and_two_labels(self):
        results = [*self.results()][:3]
        results.append(Measurement(1, [1.0], spec(label="other")))
        text = str(Compare(results))
        assert "other" in text and text.count("Times are in") == 2
        assert next(line for line in text.splitlines() if "large" in line).rstrip().endswith("|")

    def test_colors_and_warnings(self):
        table = Compare(self.results())
        table.colorize(rowwise=True)
        [row] = [line for line in str(table).splitlines() if "small" in line][:1]
        ours, theirs = row.split("|")[1:]
        assert "\033[92m" in ours and "\033[31m" in theirs
        noisy = Compare([Measurement(1, [1e-3, 2e-3, 3e-3], spec())])
        noisy.highlight_warnings()
        noisy.trim_significant_figures()
        assert "(! 50%)" in str(noisy)
        with pytest.raises(ValueError, match="expected instances of Measurement, got int"):
            table.extend_results([3])


class TestFuzzer:
    def test_sizes_lie_within_bounds_and_repeat(self):
        def fuzzer(seed):
            n = FuzzedParameter("n", 1, 64, "loguniform")
            k = FuzzedParameter("k", distribution={2: 0.5, 3: 0.5})
            same = FuzzedParameter("same", distribution={benchmark.ParameterAlias("n"): 1.0})
            x = FuzzedTensor("x", ("n", "k"), steps=("k", 1), min_elements=8, max_elements=100)
            y = FuzzedTensor("y", ("same",), dtype=lamella.int32)
            return Fuzzer([n, [k, same]], [x, [y]], constraints=[lambda n, **others: n != 7], seed=seed)

        first = [(t["x"].tolist(), p) for t, _, p in fuzzer(3).take(1)]
        found = list(fuzzer(3).take(40))
        assert first[0][1] == found[0][2] and len({p["n"] for _, _, p in found}) > 5
        for tensors, properties, params in found:
            x = tensors["x"]
            assert x.shape == (params["n"], params["k"]) and params["same"] == params["n"] != 7
            assert 8 <= x.numel() <= 100 and properties["x"]["numel"] == x.numel()
            assert properties["x"]["is_contiguous"] == x.is_contiguous() and properties["x"]["steps"] == (
                params["k"],
                1,
            )
            assert tensors["y"].dtype is lamella.int32 and tensors["y"].shape == (params["n"],)
        assert any(p["x"]["order"] == [1, 0] for _, p, _ in found) and any(
            p["x"]["order"] == [0, 1] for _, p, _ in found
        )

    def test_distributions(self):
        state = np.random.RandomState(0)
        whole = [FuzzedParameter("n", 2, 4, "uniform").sample(state) for _ in range(300)]
        real = [FuzzedParameter("x", 0.5, 2.0, "loguniform").sample(state) for _ in range(2000)]
        assert set(whole) == {2, 3, 4} and 0.5 <= min(real) and max(real) <= 2.0
        assert abs(np.log(real).mean()) < 0.05  # the logarithms are uniform around 0

    def test_bad_calls(self):
        with pytest.raises(ValueError, match="bad bounds"):
            FuzzedParameter("n", 3, 1, "uniform")
        with pytest.raises(ValueError, match="'distribution' must be"):
            FuzzedParameter("n", 1, 3, "normal")
        with pytest.raises(ValueError, match="probabilities"):
            FuzzedParameter("n", distribution={})
        with pytest.raises(ValueError, match="several parameters or tensors are named"):
            Fuzzer([FuzzedParameter("n", 1, 2, "uniform")], [FuzzedTensor("n", (1,))])
        never = Fuzzer([FuzzedParameter("n", 1, 2, "uniform")], [], constraints=[lambda n: False], seed=0)
        with pytest.raises(ValueError, match="none of 1000 draws"):
            next(never.take(1))
        assert never.rejection_rate == 1


@pytest.mark.long
def test_a_statement_in_cpp():
    timer = Timer("total += i;", "int64_t total = 0; int64_t i = 2;", global_setup="#include <vector>", language="c++")
    m = timer.timeit(1000)
    assert 0 <= m.median < 1e-3 and m.task_spec.stmt == "total += i;"
    with pytest.raises(ValueError, match="'globals' is for Python"):
        Timer("x", globals={"x": 1}, language="cpp")
