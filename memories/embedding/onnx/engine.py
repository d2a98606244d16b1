"""Runs a directory with an embedding model in ONNX: `model.onnx` and the `tokenizer.json` of Hugging Face.

What models differ in is found out: inputs the file does not have are not given, an output with one vector a text is
taken as it is, and one with a vector a token is pooled: by its mean, or by its first token where the directory's
`1_Pooling/config.json` says so.
"""

import hashlib
import json
import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec as find_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import ProviderUnavailable
from memories.embedding.base import Vector, check_passages, check_query, unit_vector
from memories.embedding.registry import MAXIMUM_DIMENSIONS, ModelSpec, find_spec

MODEL_FILE, TOKENIZER_FILE = "model.onnx", "tokenizer.json"
# What is longer is computed in windows, whose mean by their numbers of tokens is taken.
_MOST_TOKENS = 512
# Texts computed together, in tokens: short ones take two thirds of the time, those of a hundred tokens gain nothing,
# and a question asked meanwhile does not wait long. Not with models of one's own: those in eight bits often have one
# scale for all tokens, and a text would not have the same vector in every batch.
_TOKENS_AT_ONCE = 256
# The number of the padding token matters to no model: it is masked.
_PADDING = 1
_PACKAGES = ("onnxruntime", "tokenizers")


def packages_problem() -> str | None:
    """Why ONNX models cannot be run on this machine, or None. Looks for the packages without loading them."""
    missing = [name for name in _PACKAGES if find_module(name) is None]
    if not missing:
        return None
    return f"{' and '.join(missing)} must be installed (pip install -r requirements-onnx.txt)"


def directory_problem(directory: Path) -> str | None:
    """What a directory lacks to be a model, or None."""
    missing = [name for name in (MODEL_FILE, TOKENIZER_FILE) if not (directory / name).is_file()]
    return f"the directory {directory} has no {' and no '.join(missing)}" if missing else None


def directory_spec(directory: Path, dimensions: int | None) -> ModelSpec | None:
    """The model in a directory of that width; None without a width, which only the file can tell.

    Its slug has the directory's name, and a part of the hash of what is in it: another model in its place is another
    model, and vectors of the two are never mixed. Raises `ProviderUnavailable` for a directory that lacks a file.
    """
    problem = directory_problem(directory)
    if problem is not None:
        raise ProviderUnavailable(f"{problem[0].upper()}{problem[1:]}; correct EMBEDDINGS_MODEL.", permanent=True)
    if dimensions is None:
        return None
    name = directory.name[:100]
    known = find_spec("onnx", name, dimensions)
    return known and known.with_slug(f"onnx:{name}#{fingerprint(directory)}@{dimensions}")


# The number of its text, and its tokens.
_Window = tuple[int, list[int]]


@dataclass(frozen=True)
class _Loaded:
    """What runs a model, in the process that loaded it."""

    process: int
    session: Any
    tokenizer: Any
    inputs: frozenset[str]
    output: str
    takes_first: bool
    takes_batches: bool


# Sessions of the process that was forked from: their threads are gone, and ending them would wait for these for ever.
_abandoned: list[_Loaded] = []


class OnnxEmbedder:
    """The model in `directory`, loaded on first use, once a process. `threads` 0 leaves their number to the engine.

    Without a `spec`, the width is that of the file, which is loaded to find it. Raises `ProviderUnavailable` when it
    cannot be, or when `dimensions` is another one. `own` is False for the export, whose hash is checked elsewhere.
    """

    def __init__(
        self,
        directory: Path,
        *,
        spec: ModelSpec | None = None,
        own: bool = True,
        dimensions: int | None = None,
        threads: int = 0,
    ) -> None:
        self._directory = directory
        self._threads = threads
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None
        # Of a directory of one's own, which may change until it is loaded, and must be what its vectors are kept under.
        self._fingerprint = fingerprint(directory) if own else None
        self.spec: ModelSpec = spec or self._own_spec(dimensions)

    def embed_query(self, text: str) -> Vector:
        """As `Embedder.embed_query`."""
        return self._embed([self.spec.query_prefix + check_query(text)])[0]

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """As `Embedder.embed_passages`."""
        check_passages(texts)
        return self._embed([self.spec.passage_prefix + text for text in texts])

    def _embed(self, texts: Sequence[str]) -> list[Vector]:
        return [unit_vector(total, self.spec) for total in self._totals(texts)]

    def _totals(self, texts: Sequence[str]) -> list[NDArray[np.float64]]:
        """For each text the sum over its windows, weighted by their numbers of tokens."""
        loaded = self._load()
        windows: list[tuple[int, list[int]]] = []
        for number, text in enumerate(texts):
            encoded = loaded.tokenizer.encode(text)
            windows.extend((number, window.ids) for window in (encoded, *encoded.overflowing))
        totals: dict[int, NDArray[np.float64]] = {}
        for group in _batches(windows, _TOKENS_AT_ONCE if loaded.takes_batches else 0):
            for (number, tokens), vector in zip(group, self._pooled(loaded, [ids for _, ids in group]), strict=True):
                totals[number] = totals.get(number, 0.0) + len(tokens) * vector
        return [totals[number] for number in range(len(texts))]

    def _pooled(self, loaded: _Loaded, windows: Sequence[Sequence[int]]) -> NDArray[np.float64]:
        """The vectors of windows that are computed together, the shorter ones padded."""
        longest = max(len(ids) for ids in windows)
        given = {
            "input_ids": np.array([[*ids, *[_PADDING] * (longest - len(ids))] for ids in windows], np.int64),
            "attention_mask": np.array([[1] * len(ids) + [0] * (longest - len(ids)) for ids in windows], np.int64),
            "token_type_ids": np.zeros((len(windows), longest), np.int64),
        }
        try:
            (answer,) = loaded.session.run([loaded.output], {k: v for k, v in given.items() if k in loaded.inputs})
        except Exception as error:  # onnxruntime has no common class for its failures
            raise ProviderUnavailable(
                f"The ONNX model {self._directory.name} could not be computed ({type(error).__name__}).", permanent=True
            ) from error
        vectors = np.asarray(answer, dtype=np.float64)
        if vectors.ndim == 2:
            return vectors
        return np.asarray(vectors[:, 0] if loaded.takes_first else vectors.mean(axis=1))

    def _own_spec(self, dimensions: int | None) -> ModelSpec:
        width = len(self._totals(["width"])[0])
        if width > MAXIMUM_DIMENSIONS or dimensions not in (None, width):
            raise ProviderUnavailable(
                f"The ONNX model {self._directory.name} makes vectors of {width} numbers; EMBEDDINGS_DIMENSIONS must "
                f"be unset or that, and at most {MAXIMUM_DIMENSIONS:,} can be stored.",
                permanent=True,
            )
        spec = directory_spec(self._directory, width)
        if spec is None:
            raise LookupError(self._directory)
        return spec

    def _load(self) -> _Loaded:
        with self._lock:
            if self._loaded is not None and self._loaded.process != os.getpid():
                _abandoned.append(self._loaded)
                self._loaded = None
            if self._loaded is None:
                try:
                    self._loaded = self._make()
                except Exception as error:  # neither package has a common class for its failures
                    raise ProviderUnavailable(
                        f"The ONNX model {self._directory.name} cannot be loaded ({type(error).__name__}); check "
                        "EMBEDDINGS_MODEL and that the packages of requirements-onnx.txt are installed.",
                        permanent=True,
                    ) from error
            return self._loaded

    def _make(self) -> _Loaded:
        import onnxruntime
        from tokenizers import Tokenizer

        if self._fingerprint is not None and self._fingerprint != fingerprint(self._directory):
            raise ValueError("the files were changed")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.inter_op_num_threads = 1
        # Threads that wait by spinning take the cores from the rest of the server.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(
            str(self._directory / MODEL_FILE), options, providers=["CPUExecutionProvider"]
        )
        tokenizer = Tokenizer.from_file(str(self._directory / TOKENIZER_FILE))
        limit = (tokenizer.truncation or {}).get("max_length", _MOST_TOKENS)
        tokenizer.enable_truncation(min(limit, _MOST_TOKENS))
        tokenizer.no_padding()
        # One vector a text where there is such an output, else the vectors of its tokens.
        outputs = sorted(session.get_outputs(), key=lambda output: len(output.shape) != 2)
        return _Loaded(
            process=os.getpid(),
            session=session,
            tokenizer=tokenizer,
            inputs=frozenset(declared.name for declared in session.get_inputs()),
            output=outputs[0].name,
            takes_first=_takes_first_token(self._directory),
            takes_batches=self._fingerprint is None,
        )


def _batches(windows: Sequence[_Window], most_tokens: int) -> Iterator[list[_Window]]:
    """Windows of like length together, at most so many tokens with the padding; one by one where that is less."""
    batch: list[_Window] = []
    for window in sorted(windows, key=lambda window: len(window[1])):
        # Sorted: the newest is the longest.
        if batch and (len(batch) + 1) * len(window[1]) > most_tokens:
            yield batch
            batch = []
        batch.append(window)
    if batch:
        yield batch


def _takes_first_token(directory: Path) -> bool:
    try:
        pooling = json.loads((directory / "1_Pooling" / "config.json").read_text())
    except (OSError, ValueError):
        return False
    return bool(isinstance(pooling, dict) and pooling.get("pooling_mode_cls_token"))


_fingerprints: dict[tuple[Path, tuple[tuple[int, int], ...]], str] = {}


def fingerprint(directory: Path) -> str:
    """Eight digits of the hash of all that makes the vectors; read once for files that stay as they are."""
    files = sorted(path for path in directory.glob("*.onnx*") if path.is_file())
    files.append(directory / TOKENIZER_FILE)
    key = (directory, tuple((path.stat().st_size, path.stat().st_mtime_ns) for path in files))
    if key not in _fingerprints:
        digest = hashlib.sha256()
        for path in files:
            digest.update(file_hash(path).encode())
        _fingerprints[key] = digest.hexdigest()[:8]
    return _fingerprints[key]


def file_hash(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
