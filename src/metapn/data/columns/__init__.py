"""Columns of a table made features.

==============  ========================================  =====================================================
kind            what is taken for it                      what it becomes
==============  ========================================  =====================================================
``numeric``     whole and decimal numbers                 SimpleImputer (median), StandardScaler, and a mark where
                                                          a value was missing
``count``       a hundred columns of numbers from 0      itself: they are a bag of words, and X is sparse
                upwards that mostly are 0
``boolean``     truth values; numbers 0 and 1 only        0 and 1, the more frequent one where it is missing, and
                                                          a mark
``category``    text of few different values              OneHotEncoder of the 50 most frequent values; others are
                                                          zeros
``text``        text of several words                     TfidfVectorizer, the 1,000 most frequent words
``date``        dates and times                           time, and its place in the year, week and day
``vector``      lists of numbers, all of one length       each place as a numeric column
``drop``        one value only, or another in every row   nothing, and the reason is told
==============  ========================================  =====================================================

All is learnt by scikit-learn's transformers, and saved as JSON and arrays: nothing is pickled.
"""

from metapn.data.columns.encoder import ColumnEncoder as ColumnEncoder
from metapn.data.columns.kinds import KINDS as KINDS
from metapn.data.columns.plan import ColumnPlan as ColumnPlan
from metapn.data.columns.plan import told_together as told_together

__all__ = ["KINDS", "ColumnEncoder", "ColumnPlan", "told_together"]
