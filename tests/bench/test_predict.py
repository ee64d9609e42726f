"""What is measured is done: every row is labelled, from both kinds of file."""

from metapn.bench import predict


def test_both_kinds_of_file_are_measured(monkeypatch):
    monkeypatch.setattr(predict, "ROUNDS", 1)
    parquet, csv = predict.predict_speed(2000, threads=1)
    assert (parquet.name, csv.name) == ("predict/parquet", "predict/csv")
    assert parquet.value > 0 and csv.value > 0
    assert parquet.bound == 100_000 and not parquet.at_most and csv.bound is None
