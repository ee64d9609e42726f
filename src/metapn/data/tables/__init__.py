"""One's own graph, read from tables: edges, nodes, or both.

=====================================  ============================================================
what is given                          how it is read
=====================================  ============================================================
``.csv``, ``.tsv``, ``.parquet``       streaming, through pyarrow; gzipped or not
``.npz``                               one file with everything, see `metapn.data.npz`
``.graphml``                           one file with everything, see `metapn.data.tables.graphml`
pandas, polars or pyarrow tables       as if they were files
=====================================  ============================================================

Rows are numbered from 1, the first below the header; empty lines do not count.
"""

from metapn.data.tables.blocks import node_blocks as node_blocks
from metapn.data.tables.read import read_tables as read_tables
from metapn.data.tables.tables import Tables as Tables

__all__ = ["Tables", "node_blocks", "read_tables"]
