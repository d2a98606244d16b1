"""The encoder of multilingual-e5-small as an ONNX graph: BERT, mean pooling, unit length.

Matrices are eight bits wide, with a scale for each output. What they are multiplied with is brought to eight bits as it
comes, with a scale for each token. With one scale for all, as onnxruntime's own operator has, a text lost up to 0.025
of its cosine, and its vector changed with its neighbours in a batch; so it loses 0.0015, and takes a quarter longer.
"""

from pathlib import Path

import numpy as np

from memories.embedding.onnx.file import Graph, type_number
from memories.embedding.onnx.weights import Model, Network, Weights

# Added to the scores of positions that hold padding: nothing is left of them after the softmax.
_NOTHING = -1e9
# Eight bits hold -127 to 127; those of tokens have no sign, and stand for as much more.
_LARGEST, _ZERO = 127, 128


def write_graph(model: Model, path: Path) -> None:
    """Write `model`; inputs `input_ids` and `attention_mask` (batch, tokens), output `sentence_embedding`."""
    _Encoder(model).build().save(path)


class _Encoder:
    def __init__(self, model: Model) -> None:
        self.network: Network = model.network
        self.tensors = model.tensors
        self.graph = Graph("multilingual-e5-small")
        self.narrow: dict[str, tuple[str, str]] = {}

    def build(self) -> Graph:
        graph, network = self.graph, self.network
        for name in ("input_ids", "attention_mask"):
            graph.declare_input(name, np.int64, ["batch", "tokens"])
        mask = graph.node("Cast", ["attention_mask"], to=type_number(np.float32))
        hidden = self.embedded()
        unseen = self.unseen(mask)
        for layer in range(network.layers):
            hidden = self.layer(f"l{layer}", hidden, unseen)
        graph.declare_output(self.pooled(hidden, mask), np.float32, ["batch", network.hidden])
        return graph

    def embedded(self) -> str:
        """Words, positions and the one kind of segment, added."""
        graph, network = self.graph, self.network
        narrow, scales = _narrowed(self.tensors["emb.word"])
        rows = graph.node("Gather", [graph.constant("words", narrow), "input_ids"])
        rows = graph.node("Cast", [rows], to=type_number(np.float32))
        factors = graph.node("Gather", [graph.constant("word_scales", scales), "input_ids"])
        factors = graph.node("Unsqueeze", [factors, self.axes(2)])
        shape = graph.node("Shape", ["input_ids"])
        tokens = graph.node("Gather", [shape, graph.constant("second", np.array([1], np.int64))])
        positions = self.tensors["emb.pos"].reshape(-1, network.hidden)
        # The network has one segment; what it adds is the same everywhere.
        segment = self.tensors["emb.type"][: network.hidden]
        places = graph.node(
            "Slice", [graph.constant("positions", positions + segment), self.axes(0), tokens, self.axes(0)]
        )
        total = graph.node("Add", [graph.node("Mul", [rows, factors]), places])
        return self.normalised(total, "emb.ln")

    def unseen(self, mask: str) -> str:
        """What is added to the attention scores of each position (batch, 1, 1, tokens)."""
        padding = self.graph.node("Sub", [self.number("one", 1), mask])
        padding = self.graph.node("Mul", [padding, self.number("nothing", _NOTHING)])
        return self.graph.node("Unsqueeze", [padding, self.axes(1, 2)])

    def layer(self, name: str, hidden: str, unseen: str) -> str:
        graph = self.graph
        attended = self.attention(name, hidden, unseen)
        seen = self.normalised(graph.node("Add", [self.linear(f"{name}.ao", attended), hidden]), f"{name}.aln")
        inner = self.gelu(self.linear(f"{name}.fi", seen))
        return self.normalised(graph.node("Add", [self.linear(f"{name}.fo", inner), seen]), f"{name}.oln")

    def attention(self, name: str, hidden: str, unseen: str) -> str:
        graph, network = self.graph, self.network
        width = network.hidden // network.heads
        split = graph.constant("split", np.array([0, 0, network.heads, width], np.int64))
        joined = graph.constant("joined", np.array([0, 0, network.hidden], np.int64))

        def heads(part: str, order: list[int]) -> str:
            return graph.node(
                "Transpose", [graph.node("Reshape", [self.linear(f"{name}.{part}", hidden), split])], perm=order
            )

        asked, keys, values = heads("q", [0, 2, 1, 3]), heads("k", [0, 2, 3, 1]), heads("v", [0, 2, 1, 3])
        scores = graph.node("Mul", [graph.node("MatMul", [asked, keys]), self.number("shrink", width**-0.5)])
        shares = graph.node("Softmax", [graph.node("Add", [scores, unseen])], axis=-1)
        mixed = graph.node("Transpose", [graph.node("MatMul", [shares, values])], perm=[0, 2, 1, 3])
        return graph.node("Reshape", [mixed, joined])

    def linear(self, name: str, hidden: str) -> str:
        graph = self.graph
        narrow, scales = _narrowed(self.tensors[f"{name}.w"])
        tokens, factors = self.narrowed_tokens(hidden)
        zero = graph.constant("zero", np.uint8(_ZERO))
        product = graph.node("MatMulInteger", [tokens, graph.constant(f"{name}.w", narrow.T), zero])
        product = graph.node("Cast", [product], to=type_number(np.float32))
        # Not the product of both factors: onnxruntime would take that for a pattern with one scale for all tokens.
        product = graph.node("Mul", [product, graph.constant(f"{name}.scales", scales)])
        product = graph.node("Mul", [product, factors])
        return graph.node("Add", [product, graph.constant(f"{name}.b", self.tensors[f"{name}.b"])])

    def narrowed_tokens(self, hidden: str) -> tuple[str, str]:
        """Each token in eight bits around `_ZERO`, and the factor that brings it back; computed once for each input."""
        if hidden not in self.narrow:
            graph = self.graph
            largest = graph.node("ReduceMax", [graph.node("Abs", [hidden])], axes=[-1], keepdims=1)
            factors = graph.node("Mul", [largest, self.number("step", 1 / _LARGEST)])
            factors = graph.node("Max", [factors, self.number("smallest", 1e-9)])
            moved = graph.node("Add", [graph.node("Div", [hidden, factors]), self.number("moved", float(_ZERO))])
            tokens = graph.node("Cast", [graph.node("Round", [moved])], to=type_number(np.uint8))
            self.narrow[hidden] = (tokens, factors)
        return self.narrow[hidden]

    def gelu(self, hidden: str) -> str:
        """x · (1 + erf(x / √2)) / 2, in the shape that onnxruntime knows as one operator."""
        graph = self.graph
        bent = graph.node("Erf", [graph.node("Div", [hidden, self.number("root_of_two", 2**0.5)])])
        bent = graph.node("Mul", [hidden, graph.node("Add", [bent, self.number("one", 1)])])
        return graph.node("Mul", [bent, self.number("half", 0.5)])

    def normalised(self, hidden: str, name: str) -> str:
        weight, shift = f"{name}.w", f"{name}.b"
        return self.graph.node(
            "LayerNormalization",
            [
                hidden,
                self.graph.constant(weight, self.tensors[weight]),
                self.graph.constant(shift, self.tensors[shift]),
            ],
            axis=-1,
            epsilon=float(self.network.epsilon),
        )

    def pooled(self, hidden: str, mask: str) -> str:
        """The mean over the tokens that are no padding, as a vector of length one."""
        graph = self.graph
        kept = graph.node("Mul", [hidden, graph.node("Unsqueeze", [mask, self.axes(2)])])
        total = graph.node("ReduceSum", [kept, self.axes(1)], keepdims=0)
        number = graph.node("ReduceSum", [mask, self.axes(1)], keepdims=1)
        mean = graph.node("Div", [total, number])
        length = graph.node("ReduceL2", [mean], axes=[1], keepdims=1)
        return graph.node("Div", [mean, length], name="sentence_embedding")

    def axes(self, *numbers: int) -> str:
        name = "axes_" + "_".join(str(number) for number in numbers)
        return self.graph.constant(name, np.array(numbers, np.int64))

    def number(self, name: str, value: float) -> str:
        return self.graph.constant(name, np.float32(value))


def _narrowed(rows: Weights) -> tuple["np.ndarray[tuple[int, ...], np.dtype[np.int8]]", Weights]:
    """Each row in eight bits, and the factor that brings it back."""
    scales = np.abs(rows).max(axis=1) / _LARGEST
    scales[scales == 0] = 1
    narrow = np.clip(np.round(rows / scales[:, None]), -_LARGEST, _LARGEST).astype(np.int8)
    return narrow, scales.astype(np.float32)
