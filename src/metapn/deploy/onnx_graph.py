"""What an ONNX graph is made of: nodes, constants, and names that need not be thought of."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from metapn.errors import InputError

#: Of ONNX's standard operators; onnxruntime knows it since 1.10.
_OPSET, _IR = 15, 8


class OnnxGraph:
    """A graph that grows by one operator at a time.

    Examples
    --------
    >>> graph = OnnxGraph()
    >>> x = graph.input("x", np.float32, 2)
    >>> graph.output("twice", graph.apply("Mul", x, np.float32(2)), np.float32, 2)
    >>> graph.model("doubles", {}).graph.output[0].name
    'twice'
    """

    def __init__(self) -> None:
        try:
            import onnx
        except ImportError:
            raise InputError(
                "an ONNX model needs the package onnx; install it by pip install 'metapn[onnx]'"
            ) from None
        self._onnx = onnx
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []

    def input(self, name: str, dtype: npt.DTypeLike, n_columns: int) -> str:
        """Declare an input of any number of rows; return its name."""
        self._inputs.append(self._value(name, dtype, ["rows", n_columns]))
        return name

    def output(self, name: str, result: str, dtype: npt.DTypeLike, n_columns: int | None) -> None:
        """Declare a result an output of any number of rows, without columns for None."""
        self._nodes.append(self._onnx.helper.make_node("Identity", [result], [name]))
        self._outputs.append(self._value(name, dtype, ["rows"] if n_columns is None else ["rows", n_columns]))

    def apply(self, operator: str, *operands: str | npt.ArrayLike, **attributes: Any) -> str:
        """Apply an operator to results, by name, and to constants; return the name of what comes out."""
        names = [each if isinstance(each, str) else self._constant(np.asarray(each)) for each in operands]
        result = f"{operator.lower()}_{len(self._nodes)}"
        self._nodes.append(self._onnx.helper.make_node(operator, names, [result], **attributes))
        return result

    def cast(self, result: str, dtype: npt.DTypeLike) -> str:
        """Convert a result to another type."""
        return self.apply("Cast", result, to=self._type(dtype))

    def model(self, name: str, metadata: dict[str, str]) -> Any:
        """Assemble a checked ``onnx.ModelProto``."""
        from metapn import __version__

        helper = self._onnx.helper
        graph = helper.make_graph(self._nodes, name, self._inputs, self._outputs, self._constants)
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", _OPSET)],
            ir_version=_IR,
            producer_name="metapn",
            producer_version=__version__,
        )
        helper.set_model_props(model, metadata)
        self._onnx.checker.check_model(model, full_check=True)
        return model

    def _constant(self, value: npt.NDArray[Any]) -> str:
        name = f"constant_{len(self._constants)}"
        if value.dtype.kind == "U":
            value = value.astype(object)
        self._constants.append(self._onnx.numpy_helper.from_array(value, name))
        return name

    def _value(self, name: str, dtype: npt.DTypeLike, shape: list[str | int]) -> Any:
        return self._onnx.helper.make_tensor_value_info(name, self._type(dtype), shape)

    def _type(self, dtype: npt.DTypeLike) -> int:
        kind = np.dtype(dtype)
        plain = np.dtype(object) if kind.kind == "U" else kind
        return int(self._onnx.helper.np_dtype_to_tensor_dtype(plain))
