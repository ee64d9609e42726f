"""Columns become what scikit-learn makes of them, the same after saving, and each is told of."""

import datetime
import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from metapn.data.columns import ColumnEncoder
from metapn.errors import InputError

N = 40
RANDOM = np.random.default_rng(0)
SIZES = [None if i % 7 == 0 else float(i * i) for i in range(N)]
TOWNS = [("Ulm", "Jena", None, "Köln")[i % 4] for i in range(N)]
TEXTS = [f"the {('red', 'blue')[i % 2]} house number {i % 5}" for i in range(N)]
FIRST = datetime.date(2020, 1, 1)


def everything():
    return pa.table({
        "size": SIZES,
        "count": pa.array([i % 9 for i in range(N)], pa.int16()),
        "town": TOWNS,
        "text": TEXTS,
        "open": [i % 3 == 0 for i in range(N)],
        "flag": [i % 2 for i in range(N)],
        "day": [FIRST + datetime.timedelta(days=11 * i) for i in range(N)],
        "vector": list(RANDOM.random((N, 3))),
        "fixed": pa.FixedSizeListArray.from_arrays(pa.array(RANDOM.random(2 * N), pa.float32()), 2),
        "kind": pa.array(TOWNS).dictionary_encode(),
        "price": pa.array([None if i == 3 else i for i in range(N)]).cast(pa.decimal128(21, 2)),
        "row": list(range(100, 100 + N)),
        "name": [f"person {i}" for i in range(N)],
        "same": ["x"] * N,
        "empty": pa.nulls(N),
        "both": [{"a": 1}] * N,
    })  # fmt: skip


def feature(encoder, X, name):
    column = X[:, encoder.names_.index(name)]
    return column.toarray() if sparse.issparse(column) else column


def test_kinds_are_recognised_and_told():
    plan = {plan.name: plan for plan in ColumnEncoder().fit(everything()).plan_}
    assert {name: plan.kind for name, plan in plan.items()} == {
        "size": "numeric", "count": "numeric", "town": "category", "text": "text", "open": "boolean",
        "flag": "boolean", "day": "date", "vector": "vector", "fixed": "vector", "kind": "category",
        "price": "numeric", "row": "drop", "name": "drop", "same": "drop", "empty": "drop", "both": "drop",
    }  # fmt: skip
    assert str(plan["size"]) == (
        "size: numeric, 2 features: standardised; 6 missing values are filled with the median and marked"
    )
    assert "numbers the rows from 100 to 139" in str(plan["row"])
    assert "40 of 40 values are different" in str(plan["name"])
    assert "all its values are the same" in str(plan["same"])
    assert "it holds no value" in str(plan["empty"])
    assert "no features for the type struct" in str(plan["both"])


def test_numbers_are_what_scikit_learn_makes_of_them():
    encoder = ColumnEncoder()
    X = encoder.fit(pa.table({"size": SIZES})).transform(pa.table({"size": SIZES}))
    column = np.array([np.nan if size is None else size for size in SIZES])[:, None]
    wanted = make_pipeline(SimpleImputer(strategy="median"), StandardScaler()).fit_transform(column)
    np.testing.assert_array_equal(X[:, :1], wanted.astype(np.float32))
    np.testing.assert_array_equal(X[:, 1], np.isnan(column[:, 0]))
    assert encoder.names_ == ["size", "size missing"]


def test_categories_are_what_scikit_learn_makes_of_them():
    table = pa.table({"town": TOWNS})
    encoder = ColumnEncoder().fit(table)
    assert encoder.names_ == ["town = Jena", "town = Köln", "town = Ulm", "town missing"]
    wanted = OneHotEncoder(sparse_output=False).fit_transform(np.array(TOWNS, dtype=object)[:, None])
    np.testing.assert_array_equal(encoder.transform(table), wanted)
    new = encoder.transform(pa.table({"town": ["Ulm", "Bonn"]}))
    np.testing.assert_array_equal(np.asarray(new), [[0, 0, 1, 0], [0, 0, 0, 0]])


def test_of_many_categories_the_most_frequent_are_kept():
    towns = [f"t{i % 60}" for i in range(300)] + ["t3"] * 9
    encoder = ColumnEncoder().fit(pa.table({"town": towns}))
    assert len(encoder.names_) == 50 and "town = t3" in encoder.names_
    assert "there are 60" in encoder.plan_[0].told
    assert encoder.transform(pa.table({"town": towns})).shape == (309, 50)


def test_text_is_what_scikit_learn_makes_of_it():
    table = pa.table({"text": TEXTS})
    encoder = ColumnEncoder().fit(table)
    wanted = TfidfVectorizer(sublinear_tf=True, min_df=2, dtype=np.float32).fit_transform(TEXTS)
    X = encoder.transform(table)
    np.testing.assert_array_equal(X.toarray() if sparse.issparse(X) else X, wanted.toarray())


def test_dates_know_their_place_in_time_and_year():
    days = [FIRST + datetime.timedelta(days=i) for i in range(800)]
    table = pa.table({"day": days})
    encoder = ColumnEncoder().fit(table)
    X = encoder.transform(table)
    assert encoder.names_ == ["day time", *(f"day {w} of {c}" for c in ("year", "week") for w in ("sine", "cosine"))]
    assert (np.diff(X[:, 0]) > 0).all()
    np.testing.assert_allclose(X[:100, 3], X[700:800, 3], atol=1e-4)  # 700 days are whole weeks
    moments = pa.table({"day": pa.array(days, pa.date32()).cast(pa.timestamp("ms"))})
    np.testing.assert_array_equal(encoder.transform(moments), X)


def test_truth_values_are_0_and_1_whatever_they_are_written_as():
    encoder = ColumnEncoder().fit(pa.table({"open": [True, False, None, True]}))
    wanted = [[1, 0], [0, 0], [1, 1], [1, 0]]
    assert encoder.transform(pa.table({"open": [1, 0, None, 1]})).tolist() == wanted


def test_a_kind_that_is_asked_for_is_taken():
    table = pa.table({"group": [1, 2, 3, 1], "size": [1.0, 2.0, 4.0, 1.0]})
    encoder = ColumnEncoder().fit(table, {"group": "category", "size": "drop"})
    assert encoder.names_ == ["group = 1", "group = 2", "group = 3"]
    assert "as asked for" in str(encoder.plan_[1])


def test_missing_counts_are_zero():
    encoder = ColumnEncoder().fit(pa.table({"n": [0, None, 3]}), {"n": "count"})
    assert encoder.transform(pa.table({"n": [0, None, 3]})).ravel().tolist() == [0, 0, 3]
    assert "1 missing value is taken as zero" in encoder.plan_[0].told


def test_a_large_mean_does_not_swallow_a_small_spread():
    times = 1.7e9 + np.array([0.0, 1.0, 2.0, 4.0])
    X = ColumnEncoder().fit(pa.table({"time": times})).transform(pa.table({"time": times}))
    np.testing.assert_allclose(X[:, 0], StandardScaler().fit_transform(times[:, None])[:, 0], rtol=1e-5)


def test_columns_may_come_in_any_order_and_number():
    table = everything()
    encoder = ColumnEncoder().fit(table)
    X = encoder.transform(table)
    turned = table.select(table.column_names[::-1]).append_column("more", pa.array(range(N)))
    np.testing.assert_array_equal(encoder.transform(turned), X)
    chunks = pa.concat_tables([table.slice(0, 7), table.slice(7)])
    np.testing.assert_array_equal(encoder.transform(chunks), X)


def test_result_is_sparse_where_most_of_it_is_zero():
    words = [f"w{i} w{(i * 7) % 200} w{(i * 3) % 50}" for i in range(200)]
    encoder = ColumnEncoder().fit(pa.table({"text": words, "size": RANDOM.random(200)}))
    X = encoder.transform(pa.table({"text": words, "size": RANDOM.random(200)}))
    assert encoder.sparse_ and sparse.issparse(X) and X.dtype == np.float32
    assert isinstance(ColumnEncoder().fit(everything()).transform(everything()), np.ndarray)


CELLS = {
    "numbers": st.none() | st.floats(-1e9, 1e9, width=32),
    "counts": st.none() | st.integers(-(2**40), 2**40),
    "truth": st.none() | st.booleans(),
    "words": st.none() | st.text(st.characters(codec="utf-8"), max_size=12),
    "days": st.none() | st.dates(datetime.date(1900, 1, 1), datetime.date(2100, 1, 1)),
    "vectors": st.none() | st.lists(st.floats(-10, 10), min_size=2, max_size=2),
}
TYPES = {"vectors": pa.list_(pa.float64()), "days": pa.date32(), "words": pa.string(), "truth": pa.bool_()}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_an_encoder_put_together_again_gives_the_same_bits(data):
    n = data.draw(st.integers(1, 12))
    chosen = data.draw(st.lists(st.sampled_from(list(CELLS)), min_size=1, unique=True))
    rows = {name: data.draw(st.lists(CELLS[name], min_size=n, max_size=n)) for name in chosen}
    table = pa.table({name: pa.array(cells, TYPES.get(name)) for name, cells in rows.items()})
    encoder = ColumnEncoder()
    try:
        encoder.fit(table)
    except InputError as error:
        assert "no column can be made a feature" in str(error)
        return
    described, arrays = encoder.to_parts()
    again = ColumnEncoder.from_parts(json.loads(json.dumps(described)), arrays)
    one, other = encoder.transform(table), again.transform(table)
    assert sparse.issparse(one) == sparse.issparse(other) and one.shape == (n, len(encoder.names_))
    np.testing.assert_array_equal(*(X.toarray() if sparse.issparse(X) else X for X in (one, other)))
    assert again.plan_ == encoder.plan_ and again.names_ == encoder.names_ and again.types_ == encoder.types_


def test_everything_is_saved_and_read_as_it_was():
    table = everything()
    encoder = ColumnEncoder().fit(table)
    described, arrays = encoder.to_parts()
    assert all(array.dtype != object for array in arrays.values())
    again = ColumnEncoder.from_parts(json.loads(json.dumps(described)), arrays)
    np.testing.assert_array_equal(again.transform(table), encoder.transform(table))


FITTED = {
    "size": SIZES,
    "town": TOWNS,
    "v": [[1.0, float(i)] for i in range(N)],
    "day": pa.array(range(N), pa.date32()),
}
WRONG = {
    "a column that is missing": ({"size": None}, "columns size are missing"),
    "text for numbers": ({"size": ["much"] * N}, "'size' holds string where numbers are needed.*much"),
    "infinity": ({"size": [1.0, np.inf] * (N // 2)}, "'size', row 2: the number is infinite"),
    "too large": ({"size": [1.0, 1.0, 1e300] + [1.0] * (N - 3)}, "'size', row 3: .* too large"),
    "lists of another length": ({"v": [[1.0, 2.0, 3.0]] * N}, "'v', row 1: the list has 3 numbers where 2"),
    "numbers for lists": ({"v": [1.0] * N}, "'v' holds double where lists of numbers are needed"),
    "lists for text": ({"town": [[1]] * N}, "'town' holds list.* where text is needed"),
    "text for dates": ({"day": ["soon"] * N}, "'day' holds string where dates are needed"),
}


@pytest.mark.parametrize("case", WRONG)
def test_another_table_that_does_not_fit_is_told_in_one_sentence(case):
    changes, words = WRONG[case]
    encoder = ColumnEncoder().fit(pa.table(FITTED))
    changed = {name: column for name, column in (FITTED | changes).items() if column is not None}
    with pytest.raises(InputError, match=words) as told:
        encoder.transform(pa.table(changed))
    assert ";" in str(told.value) and "\n" not in str(told.value)


def test_what_cannot_be_fitted_is_told_in_one_sentence():
    table = pa.table({"size": [1.0, 2.0]})
    for columns, kinds, words in (
        (table, {"siz": "numeric"}, "no column 'siz'"),
        (table, {"size": "number"}, "the kinds are numeric"),
        (pa.table({"same": [1, 1]}), None, "'same' was dropped because all its values are the same"),
        (pa.table({"size": [1.0, np.inf]}), None, "row 2: the number is infinite"),
    ):
        with pytest.raises(InputError, match=words) as told:
            ColumnEncoder().fit(columns, kinds)
        assert ";" in str(told.value)


def test_a_newer_version_is_refused():
    described, arrays = ColumnEncoder().fit(pa.table({"size": [1.0, 2.0]})).to_parts()
    with pytest.raises(InputError, match=r"version 9.*update"):
        ColumnEncoder.from_parts(described | {"version": 9}, arrays)


def test_a_bag_of_words_in_columns_stays_as_it_is():
    words = sparse.random_array((30, 120), density=0.05, rng=np.random.default_rng(1), dtype=np.float32).toarray()
    words[:, 7] = 0
    table = pa.table({f"w{place}": column for place, column in enumerate(words.T)} | {"size": RANDOM.random(30)})
    encoder = ColumnEncoder().fit(table)
    assert {plan.kind for plan in encoder.plan_[:-1]} == {"count"} and encoder.plan_[-1].kind == "numeric"
    X = encoder.transform(table)
    assert sparse.issparse(X)
    np.testing.assert_array_equal(X[:, :120].toarray(), words)
    few = ColumnEncoder().fit(table.select([f"w{place}" for place in range(50)]))
    assert "count" not in {plan.kind for plan in few.plan_}
