"""What the benchmarks measure, on graphs so small that their times mean nothing."""

import pytest

from metapn.bench import growth as growing
from metapn.bench.bandwidth import bandwidth_share
from metapn.bench.epoch import epoch_ratio
from metapn.bench.fit import in_own_process, named_fit, synthetic_fit
from metapn.bench.measure import Measure
from metapn.bench.runs import throughput, whole_run
from metapn.bench.start import start_time


@pytest.mark.parametrize(
    "value, bound, at_most, holds",
    [
        (1.3, 1.4, True, True),
        (1.5, 1.4, True, False),
        (3, 3, False, True),
        (2.9, 3, False, False),
        (1, None, True, None),
    ],
)
def test_a_measure_knows_whether_its_bound_holds(value, bound, at_most, holds):
    measure = Measure("name", "in words", value, bound, at_most)
    assert measure.holds is holds
    assert measure.as_dict()["holds"] is holds


@pytest.mark.parametrize("n_runs", [1, 2])
def test_the_ratio_of_epochs_is_made_of_its_details(n_runs):
    measure = epoch_ratio("sbm-300", n_runs)
    meta, static, look = (measure.details[f"{part}_ms"] for part in ("meta", "static", "look"))
    assert measure.value == pytest.approx((meta + look) / (static + look))
    assert measure.details["ratio_without_look"] == pytest.approx(meta / static)
    assert (measure.name, measure.bound) == (f"epoch/sbm-300/{n_runs}", 1.4)


def test_bandwidth_compares_every_kernel_that_there_is():
    measure = bandwidth_share("sbm-300", threads=1, copied=2**16)
    assert {"product_ms", "scipy_ms"} <= set(measure.details)
    assert measure.value == pytest.approx(measure.details["gathered_gb_s"] / measure.details["copy_gb_s"])
    assert measure.details["each_byte_once_gb_s"] < measure.details["gathered_gb_s"]


def test_a_run_is_held_against_the_published_code_only_where_its_seconds_are_known():
    alone = whole_run("sbm-300", range(2), 1, None)
    assert (alone.bound, alone.value) == (None, alone.details["seconds"])
    beside = whole_run("sbm-300", range(2), 1, published=1000.0)
    assert beside.value == pytest.approx(1000 / beside.details["seconds"])
    assert (beside.bound, beside.holds) == (20, True)
    # The same seeds are the same runs.
    assert beside.details["accuracy"] == alone.details["accuracy"]
    assert beside.details["epochs"] == alone.details["epochs"]


def test_throughput_compares_the_seconds_of_a_run():
    measure = throughput("sbm-300", 2, 1)
    details = measure.details
    assert measure.value == pytest.approx(details["one_after_another_s_a_run"] / details["in_blocks_s_a_run"])
    assert details["accuracy_in_blocks"] == pytest.approx(details["accuracy_one_after_another"], abs=0.1)


def test_growth_fits_each_size_once_and_looks_at_the_largest(monkeypatch):
    monkeypatch.setattr(growing, "in_own_process", lambda function, *arguments: function(*arguments))
    time, memory, largest, estimate = growing.growth([2000, 4000], threads=1)
    fits = time.details["fits"]
    # Of so small a graph, not every edge that is drawn is a new one.
    assert [fit["nodes"] for fit in fits] == [200, 400]
    assert fits[0]["edges"] < fits[1]["edges"] <= 4000
    assert largest.value == pytest.approx(fits[1]["peak"] / 1e9)
    assert estimate.value == pytest.approx(abs(fits[1]["estimate"] / fits[1]["peak"] - 1))
    assert (time.bound, memory.bound, largest.bound, estimate.bound) == (1.1, 1.1, 8, 0.25)


def test_a_fit_in_its_own_process_tells_its_memory_and_its_time():
    fit = in_own_process(named_fit, "sbm-300", 1, 2)
    assert (fit.name, fit.nodes, fit.epochs) == ("sbm-300", 300, 2)
    assert fit.total_seconds > fit.seconds > 0
    assert 50e6 < fit.peak < 2e9
    # The libraries are nearly all of it, and the estimate knows them.
    assert fit.estimate == pytest.approx(fit.peak, rel=0.25)


def test_synthetic_fits_are_of_the_size_that_was_asked_for():
    fit = synthetic_fit(2000, 1)
    assert (fit.nodes, fit.edges <= 2000) == (200, True)


def test_the_start_is_that_of_a_process():
    measure = start_time()
    assert measure.value > measure.details["python_alone_s"] > 0
