"""Writing ONNX files: the few messages of onnx.proto that a graph of plain operators needs.

    graph = Graph("doubled")
    graph.declare_input("x", np.float32, ["batch", 3])
    doubled = graph.node("Mul", ["x", graph.constant("two", np.float32(2))], name="y")
    graph.declare_output(doubled, np.float32, ["batch", 3])
    graph.save(path)

An ONNX file is one protocol buffer: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto gives the numbers of fields
and types used here. The package `onnx` would do the same and ten megabytes more.
"""

import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

# Operators as of this set of definitions (LayerNormalization came with it), in a file of this version.
OPERATOR_SET = 17
FILE_VERSION = 8

_TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7}
_VARINT, _BYTES, _FIXED_32 = 0, 2, 5

Attribute = int | float | Sequence[int]


def type_number(dtype: DTypeLike) -> int:
    """The number of an element type, as the operator Cast wants it."""
    return _TYPES[np.dtype(dtype).name]


def _varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first; negative numbers as 64 bits."""
    value &= (1 << 64) - 1
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3 | _VARINT) + _varint(value)


def _bytes(field: int, value: bytes | str) -> bytes:
    content = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | _BYTES) + _varint(len(content)) + content


def _tensor(name: str, values: NDArray[np.generic]) -> bytes:
    """A TensorProto: dims 1, data_type 2, name 8, raw_data 9 (little-endian)."""
    little = values.astype(values.dtype.newbyteorder("<"), copy=False)
    dims = b"".join(_number(1, size) for size in values.shape)
    return dims + _number(2, type_number(values.dtype)) + _bytes(8, name) + _bytes(9, little.tobytes())


def _attribute(name: str, value: Attribute) -> bytes:
    """An AttributeProto: name 1, f 2, i 3, ints 8, type 20 (1 a float, 2 an int, 7 ints)."""
    if isinstance(value, float):
        return _bytes(1, name) + _varint(2 << 3 | _FIXED_32) + struct.pack("<f", value) + _number(20, 1)
    if isinstance(value, int):
        return _bytes(1, name) + _number(3, value) + _number(20, 2)
    return _bytes(1, name) + b"".join(_number(8, part) for part in value) + _number(20, 7)


def _value(name: str, dtype: DTypeLike, shape: Sequence[int | str]) -> bytes:
    """A ValueInfoProto; sizes that vary have a name."""
    dims = b"".join(_bytes(1, _bytes(2, size) if isinstance(size, str) else _number(1, size)) for size in shape)
    tensor = _number(1, type_number(dtype)) + _bytes(2, dims)
    return _bytes(1, name) + _bytes(2, _bytes(1, tensor))


class Graph:
    """Operators in the order in which they are added, and the constants they use."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._nodes: list[bytes] = []
        self._constants: dict[str, bytes] = {}
        self._inputs: list[bytes] = []
        self._outputs: list[bytes] = []

    def constant(self, name: str, values: ArrayLike) -> str:
        """A named tensor; the same name again is the same tensor. Returns the name."""
        if name not in self._constants:
            self._constants[name] = _tensor(name, np.asarray(values))
        return name

    def node(self, operator: str, inputs: Sequence[str], *, name: str | None = None, **attributes: Attribute) -> str:
        """An operator with one output, whose name is returned.

        NodeProto: input 1, output 2, op_type 4, attribute 5.
        """
        name = name or f"{operator}_{len(self._nodes)}"
        self._nodes.append(
            b"".join(_bytes(1, part) for part in inputs)
            + _bytes(2, name)
            + _bytes(4, operator)
            + b"".join(_bytes(5, _attribute(key, value)) for key, value in attributes.items())
        )
        return name

    def declare_input(self, name: str, dtype: DTypeLike, shape: Sequence[int | str]) -> None:
        self._inputs.append(_value(name, dtype, shape))

    def declare_output(self, name: str, dtype: DTypeLike, shape: Sequence[int | str]) -> None:
        self._outputs.append(_value(name, dtype, shape))

    def save(self, path: Path) -> None:
        """Write the file (GraphProto: node 1, name 2, initializer 5, input 11, output 12)."""
        parts = [
            *(_bytes(1, node) for node in self._nodes),
            _bytes(2, self._name),
            *(_bytes(5, tensor) for tensor in self._constants.values()),
            *(_bytes(11, value) for value in self._inputs),
            *(_bytes(12, value) for value in self._outputs),
        ]
        # ModelProto: ir_version 1, producer_name 2, graph 7, opset_import 8 (domain 1, version 2).
        operators = _bytes(8, _bytes(1, "") + _number(2, OPERATOR_SET))
        head = _number(1, FILE_VERSION) + _bytes(2, "memory") + operators
        with path.open("wb") as file:
            file.write(head + _varint(7 << 3 | _BYTES) + _varint(sum(len(part) for part in parts)))
            for part in parts:
                file.write(part)
