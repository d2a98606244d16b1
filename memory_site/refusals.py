"""Answers to requests that Django never sees, in the form of the address they were sent to."""

from django.http import HttpRequest

from core.asgi import Message, Refusal, Scope, Send
from memory_site.problems import problem

# Everything under it is answered in problem details.
API_PREFIX = "/api/"


async def refuse(scope: Scope, send: Send, refusal: Refusal) -> None:
    """Answer with a problem under `/api/`, elsewhere with the sentence as text."""
    body, content_type = refusal.sentence.encode(), b"text/plain; charset=utf-8"
    if scope["path"].startswith(API_PREFIX):
        request = HttpRequest()
        request.path = scope["path"]
        response = problem(request, refusal.status, refusal.sentence)
        body, content_type = response.content, response["Content-Type"].encode("latin-1")
    headers = [(b"content-type", content_type), (b"content-length", str(len(body)).encode()), *refusal.headers]
    start: Message = {"type": "http.response.start", "status": refusal.status, "headers": headers}
    await send(start)
    await send({"type": "http.response.body", "body": body})
