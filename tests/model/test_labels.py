import numpy as np
import pytest

from metapn.errors import InputError
from metapn.model.labels import codes_of, encode_labels

NAN = float("nan")
FORMS = {
    "integers": ([7, -1, 3, 7], [3, 7]),
    "array": (np.array([7, -1, 3, 7], np.int8), [3, 7]),
    "floats": (np.array([7.0, NAN, 3.0, 7.0]), [3, 7]),
    "floats with -1": (np.array([7.0, -1.0, 3.0, 7.0]), [3, 7]),
    "list with None": ([7, None, 3, 7], [3, 7]),
    "list with NaN": ([7, NAN, 3, 7], [3, 7]),
    "objects": (np.array([7, None, 3, 7], dtype=object), [3, 7]),
    "objects with -1": (np.array([7, -1, 3, 7], dtype=object), [3, 7]),
    "strings": (["no", None, "a", "no"], ["a", "no"]),
    "strings with -1": (np.array(["no", -1, "a", "no"], dtype=object), ["a", "no"]),
    "strings with NaN": (np.array(["no", NAN, "a", "no"], dtype=object), ["a", "no"]),
    "booleans": ([True, None, False, True], [False, True]),
    "column": (np.array([[7], [-1], [3], [7]]), [3, 7]),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_labels_has_the_same_codes(form):
    y, names = FORMS[form]
    codes, classes = encode_labels(y)
    assert codes.tolist() == [1, -1, 0, 1]
    assert codes.dtype == np.int64
    assert classes.tolist() == names
    assert classes.dtype != object


def test_pandas_has_several_kinds_of_missing():
    pandas = pytest.importorskip("pandas")
    for series in (
        pandas.Series([7, None, 3, 7], dtype="Int64"),
        pandas.Series([7, None, 3, 7]),
        pandas.Series([7, pandas.NA, 3, 7], dtype=object, index=[9, 8, 7, 6]),
        pandas.Series(["z", None, "a", "z"]),
        pandas.Series(["z", None, "a", "z"], dtype="string"),
        pandas.Series(["z", None, "a", "z"], dtype="category"),
        pandas.Series([True, None, False, True], dtype="boolean"),
    ):
        codes, classes = encode_labels(series)
        assert codes.tolist() == [1, -1, 0, 1]
        assert len(classes) == 2


def test_strings_and_booleans_without_gaps_are_all_labels():
    assert encode_labels(np.array(["-1", "1"]))[0].tolist() == [0, 1]
    assert encode_labels(np.array([True, False, True]))[0].tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    "classes, labels, codes",
    [
        (np.array([3, 7]), [7, 3, 7], [1, 0, 1]),
        (np.array([3, 7]), np.array([7.0, 3.0]), [1, 0]),
        (np.array([3.0, 7.0]), [7, 3], [1, 0]),
        (np.array(["a", "no"]), ["no", "a"], [1, 0]),
        (np.array(["a", "no"]), np.array(["a"], dtype=object), [0]),
        (np.array([False, True]), [True, False], [1, 0]),
    ],
)
def test_given_labels_are_found_among_the_classes(classes, labels, codes):
    assert codes_of(labels, classes, "validation").tolist() == codes


@pytest.mark.parametrize(
    "labels, shown",
    [([3, 4], "4"), ([3, 3.5], "3.5"), (["3"], "'3'"), ([3, None], "None"), ([NAN], "nan"), ([-1], "-1")],
)
def test_an_unknown_label_is_named(labels, shown):
    with pytest.raises(InputError, match=f"^validation holds the label {shown}, .* the classes are 3, 7$"):
        codes_of(labels, np.array([3, 7]), "validation")
