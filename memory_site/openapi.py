"""The description of the API, with what every route has in common: problems as errors, and two ways to send the key."""

from typing import Any

from ninja import NinjaAPI
from ninja.openapi.schema import OpenAPISchema

from memory_site.problems import CONTENT_TYPE

_PROBLEM = {
    "title": "Problem",
    "description": "What was wrong (RFC 9457). `errors` holds one sentence a field when several are wrong.",
    "type": "object",
    "properties": {
        "type": {"type": "string", "const": "about:blank"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "instance": {"type": "string"},
        "errors": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["type", "title", "status", "detail", "instance"],
}
_ERROR_RESPONSE = {
    "description": "A problem",
    "content": {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
}


class DescribedApi(NinjaAPI):
    """A `NinjaAPI` whose description names the errors and the bearer form of the key as well."""

    def get_openapi_schema(
        self, *, path_prefix: str | None = None, path_params: dict[str, Any] | None = None
    ) -> OpenAPISchema:
        described = super().get_openapi_schema(path_prefix=path_prefix, path_params=path_params)
        described["components"]["schemas"]["Problem"] = _PROBLEM
        described["components"]["securitySchemes"]["Bearer"] = {"type": "http", "scheme": "bearer"}
        for methods in described["paths"].values():
            for operation in methods.values():
                operation["responses"]["default"] = _ERROR_RESPONSE
                operation["security"] = [*operation["security"], {"Bearer": []}]
        return described
