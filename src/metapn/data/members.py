"""One member of an npz file at a time: what it must look like, and what to say if it does not."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.npyio import NpzFile
from scipy import sparse

from metapn.errors import InputError
from metapn.graph import FloatArray, IntArray

PARTS = ("data", "indices", "indptr", "shape")
_ANEW = "write the file anew with metapn.data.npz.write_npz"
# All that numpy, zipfile and zlib are known to raise at bytes that are not what they say they are.
_DAMAGE = (
    OSError,
    EOFError,
    ValueError,
    TypeError,
    KeyError,
    RuntimeError,
    MemoryError,
    zipfile.BadZipFile,
    zlib.error,
)


def open_npz(file: Path) -> NpzFile:
    """Open an npz file without reading any member, and without ever unpickling one."""
    try:
        archive = np.load(file, allow_pickle=False)
    except FileNotFoundError:
        raise InputError("there is no such file; check the path") from None
    except (IsADirectoryError, PermissionError) as error:
        raise InputError(f"the file cannot be read ({error.strerror}); check the path") from None
    except _DAMAGE:
        archive = None
    if not isinstance(archive, NpzFile):
        raise InputError(f"this is no npz file, or one cut short; fetch it again, or {_ANEW}")
    for name in archive.files:
        # Members are only ever read in place, but whoever writes such a name means harm.
        if ".." in name.replace("\\", "/").split("/") or name.startswith(("/", "\\")):
            archive.close()
            raise InputError(f"member {name} would leave the folder it is unpacked in; fetch the file from elsewhere")
    return archive


def member(archive: NpzFile, name: str) -> npt.NDArray[Any] | None:
    """Read one member as it is stored, None if the file has none of that name."""
    if name not in archive.files:
        return None
    try:
        array = archive[name]
    except _DAMAGE as error:
        if "Object arrays" in str(error):
            raise InputError(
                f"member {name} holds Python objects, which are never loaded; store it as numbers, or {_ANEW}"
            ) from None
        array = None
    if not isinstance(array, np.ndarray):
        raise InputError(f"member {name} is damaged; fetch the file again, or {_ANEW}")
    return array


def csr_matrix(archive: NpzFile, prefix: str) -> sparse.csr_array | None:
    """Assemble a CSR matrix from its four members, None if the file has none of them."""
    stored = {part: member(archive, f"{prefix}.{part}") for part in PARTS}
    if all(array is None for array in stored.values()):
        return None
    for part, array in stored.items():
        if array is None:
            raise InputError(f"member {prefix}.{part} is missing; {_ANEW}")
        if array.ndim != 1 or (part != "data" and array.dtype.kind not in "iu"):
            raise InputError(
                f"member {prefix}.{part} is of type {array.dtype} and shape {array.shape}, not a row of "
                f"{'' if part == 'data' else 'whole '}numbers; {_ANEW}"
            )
    data, indices, indptr, shape = (np.asarray(stored[part]) for part in PARTS)
    fault = _csr_fault(len(data), indices.astype(np.int64), indptr.astype(np.int64), shape.astype(np.int64))
    if fault:
        raise InputError(f"{prefix} is no CSR matrix, because {fault}; {_ANEW}")
    values = numbers(data, f"{prefix}.data")
    matrix = sparse.csr_array((values, indices, indptr), shape=(int(shape[0]), int(shape[1])))
    matrix.sum_duplicates()
    return matrix


def _csr_fault(n_data: int, indices: IntArray, indptr: IntArray, shape: IntArray) -> str:
    """Say what keeps four arrays from being a CSR matrix; empty if nothing does."""
    if shape.shape != (2,) or shape.min() < 0:
        return f"its shape is {shape.tolist()}"
    if len(indptr) != shape[0] + 1:
        return f"indptr has {len(indptr)} entries for {shape[0]} rows"
    if len(indices) != n_data or indptr[0] != 0 or indptr[-1] != n_data:
        return f"data has {n_data} entries, indices {len(indices)}, and indptr {indptr[0]} to {indptr[-1]}"
    if (np.diff(indptr) < 0).any():
        return "indptr decreases"
    if n_data and (indices.min() < 0 or indices.max() >= shape[1]):
        return f"indices reach from {indices.min()} to {indices.max()} in {shape[1]} columns"
    return ""


def numbers(array: npt.NDArray[Any], name: str) -> FloatArray:
    """Convert a member to finite numbers of single precision, or say that it cannot be."""
    if array.dtype.kind not in "biuf":
        raise InputError(f"member {name} is of type {array.dtype}, not numbers; {_ANEW}")
    with np.errstate(over="ignore"):
        single = array.astype(np.float32)
    if not np.isfinite(single).all():
        raise InputError(f"member {name} holds values that are not finite; replace them with numbers")
    return single


def class_numbers(labels: npt.NDArray[Any]) -> IntArray:
    """Convert labels of any type of number to whole ones, shape (n,); -1 is unknown."""
    if labels.ndim != 1 or labels.dtype.kind not in "biuf":
        raise InputError(
            f"member labels is of type {labels.dtype} and shape {labels.shape}; "
            "give one class number for each node, and -1 where it is unknown"
        )
    whole = np.isfinite(labels) & (labels >= -1) & (labels < 2**31)
    whole &= np.floor(np.where(whole, labels, 0)) == labels
    if not whole.all():
        node = int(np.flatnonzero(~whole)[0])
        raise InputError(
            f"member labels says {labels[node]} for node {node}; number the classes from 0, "
            "and give -1 where the class is unknown"
        )
    return labels.astype(np.int64)
