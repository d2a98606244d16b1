"""A tiny ONNX model, to stand for one that somebody brings: the vector of a text is the sum of those of its words."""

import json
import zlib
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer, models, pre_tokenizers

from memories.embedding.onnx.file import Graph, type_number

WORDS = ["[UNK]", "apples", "plums", "are", "red", "blue"]


def write_small_model(
    directory: Path, *, width: int = 6, seed: str = "", output: str = "pooled", first_token: bool = False
) -> Path:
    """`output`: "pooled" is one vector a text, "tokens" one vector a token."""
    directory.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(directory / "tokenizer.json"))
    table = np.stack(
        [
            np.random.default_rng(zlib.crc32((seed + word).encode())).standard_normal(width).astype(np.float32)
            for word in WORDS
        ]
    )
    graph = Graph("small")
    graph.declare_input("input_ids", np.int64, ["batch", "tokens"])
    tokens = graph.node("Gather", [graph.constant("table", table), "input_ids"], name="last_hidden_state")
    if output == "tokens":
        graph.declare_output(tokens, np.float32, ["batch", "tokens", width])
    else:
        graph.declare_input("attention_mask", np.int64, ["batch", "tokens"])
        mask = graph.node("Cast", ["attention_mask"], to=type_number(np.float32))
        mask = graph.node("Unsqueeze", [mask, graph.constant("axis", np.array([2], np.int64))])
        kept = graph.node("Mul", [tokens, mask])
        axis = graph.constant("tokens_axis", np.array([1], np.int64))
        total = graph.node("ReduceSum", [kept, axis], name="sentence_embedding", keepdims=0)
        graph.declare_output(total, np.float32, ["batch", width])
    graph.save(directory / "model.onnx")
    if first_token:
        (directory / "1_Pooling").mkdir(exist_ok=True)
        (directory / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
    return directory
