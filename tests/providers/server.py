"""A provider for tests: OpenAI's protocol over real HTTP, with the faults that providers have.

    with OpenAICompatibleServer() as server:
        server.mode = "429"
        server.modes["/chat/completions"] = "refusal"
        ...  # server.url, server.requests

The vectors are made from the words of a text, so that texts which share words are alike. A chat gets the facts that
`server.facts` makes of a text and the memories it may act on: by default one fact for each sentence.
"""

import json
import re
import threading
import time
import uuid
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal, Self

import numpy as np

Mode = Literal[
    "ok",
    "shuffled",
    "slow",
    "400",
    "401",
    "403",
    "404",
    "429",
    "500",
    "503",
    "out of quota",
    "wrong width",
    "zeros",
    "not a number",
    "empty list",
    "one too few",
    "invalid JSON",
    "web page",
    "dropped",
    "no schema",
    "refusal",
    "filtered",
    "cut off",
    "no facts",
    "empty",
    "prose",
    "code block",
    "unknown ids",
]
STATUS_CODES = {"400": "bad_request", "401": "invalid_api_key", "403": "forbidden", "404": "model_not_found"}


# A sentence of a text, for the facts of the default answer.
_SENTENCE = re.compile(r"[^.!?]+[.!?]")

Facts = Callable[[str, list[dict[str, Any]]], list[dict[str, Any]]]


def fact(text: str, *relations: tuple[str, str, str | None], category: str | None = None) -> dict[str, Any]:
    """A fact as a chat answers it; a relation is the id of a memory, the type and the note."""
    return {
        "text": text,
        "category": category,
        "relations": [
            {"existingMemoryId": target, "relationType": kind, "note": note} for target, kind, note in relations
        ],
    }


def sentences(content: str, memories: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One fact for each sentence, related to nothing."""
    return [fact(sentence.strip()) for sentence in _SENTENCE.findall(content) or [content]]


@dataclass(frozen=True)
class Recorded:
    """A request that arrived. Header names are in lower case."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class OpenAICompatibleServer:
    """Listens on a free port of this machine while used as a context manager.

    `mode` is how it answers, `modes` how it answers at single paths ("/embeddings") instead; `failures` limits a fault
    to so many requests, after which it answers well again.
    `dimensions` is the model's own width; with `is_reducible` it obeys a `dimensions` parameter, else refuses it.
    `retry_after` goes with 429 and 503. Every answer takes `seconds`.
    """

    def __init__(self, *, dimensions: int = 8, is_reducible: bool = True) -> None:
        self.dimensions = dimensions
        self.is_reducible = is_reducible
        self.mode: Mode = "ok"
        self.modes: dict[str, Mode] = {}
        self.failures: int | None = None
        self.retry_after: str | None = "2"
        self.requests: list[Recorded] = []
        self.facts: Facts = sentences
        self.seconds = 0.0
        self._lock = threading.Lock()
        self._release = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        # The threads of slow answers end with `close`; nobody waits for them.
        self._http.daemon_threads = True

    @property
    def url(self) -> str:
        """The base address, to be used as EMBEDDINGS_ENDPOINT."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop listening; slow answers end."""
        self._release.set()
        self._http.shutdown()
        self._http.server_close()

    def vector(self, text: str, dimensions: int | None = None) -> list[float]:
        """What it answers for `text`."""
        values = np.full(dimensions or self.dimensions, 0.01)
        for word in re.findall(r"\w+", text.lower()):
            values += np.random.default_rng(zlib.crc32(word.encode())).standard_normal(len(values))
        return [float(value) for value in values]

    def _take_mode(self, path: str) -> Mode:
        with self._lock:
            mode = next((mode for ending, mode in self.modes.items() if path.endswith(ending)), self.mode)
            if self.failures is not None and mode not in ("ok", "shuffled"):
                if self.failures == 0:
                    return "ok"
                self.failures -= 1
            return mode

    def _answer(self, body: dict[str, Any], mode: Mode) -> tuple[int, dict[str, Any]]:
        asked = body.get("dimensions")
        if asked is not None and not self.is_reducible:
            return 400, _error("this model has no dimensions parameter", "invalid_request")
        inputs = [body["input"]] if isinstance(body["input"], str) else body["input"]
        rows: list[list[float]] = [self.vector(text, asked) for text in inputs]
        if mode == "wrong width":
            rows = [[*row, 0.5] for row in rows]
        elif mode == "zeros":
            rows = [[0.0] * len(row) for row in rows]
        elif mode == "not a number":
            rows = [[float("nan")] * len(row) for row in rows]
        elif mode == "empty list":
            rows = []
        elif mode == "one too few":
            rows = rows[1:]
        data = [{"object": "embedding", "index": number, "embedding": row} for number, row in enumerate(rows)]
        if mode == "shuffled":
            data.reverse()
        usage = {"prompt_tokens": len(inputs), "total_tokens": len(inputs)}
        return 200, {"object": "list", "model": body["model"], "data": data, "usage": usage}

    def _chat(self, body: dict[str, Any], mode: Mode) -> dict[str, Any]:
        """The answer to a chat, in the form that the protocol has for it."""
        asked = json.loads(body["messages"][-1]["content"])
        message: dict[str, Any] = {"role": "assistant", "content": None, "refusal": None}
        reason = "stop"
        if mode == "refusal":
            message["refusal"] = "I cannot help with that."
        elif mode == "filtered":
            reason = "content_filter"
        elif mode != "empty":
            facts = [] if mode == "no facts" else self.facts(asked["content"], asked["existingMemories"])
            if mode == "unknown ids":
                for made_up in (str(uuid.uuid4()), "memory 1", ""):
                    facts[0]["relations"].append(
                        {"existingMemoryId": made_up, "relationType": "Updates", "note": "made up"}
                    )
            text = json.dumps({"facts": facts}, ensure_ascii=False)
            if mode == "cut off":
                text, reason = text[: len(text) // 2], "length"
            elif mode == "invalid JSON":
                text = text[:-3]
            elif mode == "prose":
                text = "I found nothing that I could put into a list."
            elif mode == "code block":
                text = f"Here are the facts:\n```json\n{text}\n```"
            message["content"] = text
        choice = {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}
        return {"id": "1", "object": "chat.completion", "created": 1, "model": body["model"], "choices": [choice]}

    def _handler(server) -> type[BaseHTTPRequestHandler]:  # noqa: N805 - the handler has a `self` of its own
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                headers = {name.lower(): value for name, value in self.headers.items()}
                server.requests.append(Recorded(path=self.path, headers=headers, body=body))
                path = self.path.split("?")[0]
                mode = server._take_mode(path)
                if mode == "dropped":
                    self.close_connection = True
                    return
                if mode == "slow":
                    server._release.wait(60)
                    self.close_connection = True
                    return
                time.sleep(server.seconds)
                is_chat = path.endswith("/chat/completions")
                if not is_chat and not path.endswith("/embeddings"):
                    self._send(404, json.dumps(_error("no such page", "not_found")))
                elif mode == "no schema" and "response_format" in body:
                    self._send(400, json.dumps(_error("response_format is not supported", "bad_request")))
                elif mode in STATUS_CODES:
                    # Providers repeat a part of the key and of the text in their messages.
                    authorization = headers.get("authorization", headers.get("api-key", ""))
                    message = f"not accepted: {authorization} {body.get('input', body.get('messages'))}"
                    self._send(int(mode), json.dumps(_error(message, STATUS_CODES[mode])))
                elif mode in ("429", "500", "503"):
                    self._send(int(mode), json.dumps(_error("try later", "busy")), retry_after=mode != "500")
                elif mode == "out of quota":
                    self._send(429, json.dumps(_error("no money left", "insufficient_quota")))
                elif mode == "invalid JSON" and not is_chat:
                    self._send(200, '{"data": [')
                elif mode == "web page":
                    self._send(200, "<html>Sign in</html>", content_type="text/html")
                elif is_chat:
                    self._send(200, json.dumps(server._chat(body, mode)))
                else:
                    status, answer = server._answer(body, mode)
                    self._send(status, json.dumps(answer))

            def _send(
                self, status: int, text: str, *, content_type: str = "application/json", retry_after: bool = False
            ) -> None:
                payload = text.encode()
                self.send_response(status)
                self.send_header("Content-Type", content_type)
                self.send_header("Content-Length", str(len(payload)))
                if retry_after and server.retry_after is not None:
                    self.send_header("Retry-After", server.retry_after)
                self.end_headers()
                self.wfile.write(payload)

            def log_message(self, format: str, *args: object) -> None:
                """Tests read `requests`; their output stays clean."""

        return Handler


def _error(message: str, code: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "error", "param": None, "code": code}}
