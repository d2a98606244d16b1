import time
from collections.abc import Callable, Mapping
from typing import Any

from django.core.management.base import CommandParser

from core.commands import ServiceCommand
from core.errors import Invalid
from core.text import excerpt
from memories.models import EmbeddingModel, ModelState
from memories.services import backfill, embedding_models
from memories.services.compare_models import ComparedQuestion, compare_models
from memories.services.embedding_models import ModelStatus, find_model
from memories.services.searched_model import searched_problem
from spaces.access import reading_access
from spaces.services.provisioning import get_space

_WAIT_SECONDS = 1.0


class Command(ServiceCommand):
    help = "Change the embedding model while searches go on: add one, backfill it, compare, switch, roll back, drop."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "action", choices=sorted(self._actions()), metavar="ACTION", help=", ".join(self._actions())
        )
        parser.add_argument("model", nargs="?", help="its slug or number, or the name of the settings that describe it")
        parser.add_argument("--per-minute", type=int, default=0, help="backfill: memories a minute at most")
        parser.add_argument("--wait", action="store_true", help="backfill: do it here, and end when it is complete")
        parser.add_argument("--incomplete", action="store_true", help="switch: even if the model lacks vectors")
        parser.add_argument("--space", help="compare: the key of the space to search")
        parser.add_argument(
            "--query", action="append", default=[], help="compare: what to search for; repeat for several"
        )
        parser.add_argument("--limit", type=int, default=10, help="compare: matches a question, 10 unless told")

    def _actions(self) -> dict[str, Callable[[dict[str, Any]], Mapping[str, Any]]]:
        return {
            "list": self._list,
            "add": self._add,
            "backfill": self._backfill,
            "status": self._status,
            "compare": self._compare,
            "switch": self._switch,
            "rollback": self._roll_back,
            "retire": self._retire,
            "drop": self._drop,
        }

    def perform(self, options: dict[str, Any]) -> Mapping[str, Any]:
        action = options["action"]
        if options["model"] is None and action not in ("list", "rollback"):
            raise Invalid(f"To {action} takes the name of a model; the action list shows them.")
        return self._actions()[action](options)

    def _list(self, options: dict[str, Any]) -> Mapping[str, Any]:
        return {"models": [_told(model) for model in embedding_models.list_models()], "problem": searched_problem()}

    def _add(self, options: dict[str, Any]) -> Mapping[str, Any]:
        return {"model": _told(embedding_models.add_model(options["model"]))}

    def _backfill(self, options: dict[str, Any]) -> Mapping[str, Any]:
        model = embedding_models.start_backfill(find_model(options["model"]), per_minute=options["per_minute"])
        while options["wait"] and model.state == ModelState.BACKFILLING:
            pause = backfill.tend(model.id)
            model.refresh_from_db()
            if model.state == ModelState.BACKFILLING:
                # Without a pause, the worker has the turn.
                time.sleep(_WAIT_SECONDS if pause is None else pause)
        return {"status": _progress(embedding_models.model_status(model))}

    def _status(self, options: dict[str, Any]) -> Mapping[str, Any]:
        return {"status": _progress(embedding_models.model_status(find_model(options["model"])))}

    def _compare(self, options: dict[str, Any]) -> Mapping[str, Any]:
        if options["space"] is None:
            raise Invalid("To compare takes the key of a space (--space).")
        comparison = compare_models(
            reading_access(get_space(options["space"])),
            options["query"],
            find_model(options["model"]),
            limit=options["limit"],
        )
        return {
            "searched": comparison.searched,
            "candidate": comparison.candidate,
            "space": comparison.space_key,
            "candidateLacks": comparison.lacking,
            "overlap": round(comparison.overlap, 3),
            "questions": [_compared(asked) for asked in comparison.questions],
        }

    def _switch(self, options: dict[str, Any]) -> Mapping[str, Any]:
        model = find_model(options["model"])
        return {"model": _told(embedding_models.switch_to(model, incomplete=options["incomplete"]))}

    def _roll_back(self, options: dict[str, Any]) -> Mapping[str, Any]:
        return {"model": _told(embedding_models.roll_back())}

    def _retire(self, options: dict[str, Any]) -> Mapping[str, Any]:
        return {"model": _told(embedding_models.retire_model(find_model(options["model"])))}

    def _drop(self, options: dict[str, Any]) -> Mapping[str, Any]:
        model = find_model(options["model"])
        return {"dropped": model.slug, "vectors": embedding_models.drop_model(model)}

    def describe(self, result: Mapping[str, Any]) -> list[str]:
        if "models" in result:
            lines = [_line(model) for model in result["models"]] or ["No model has embedded anything yet."]
            return lines + ([f"Searches by meaning do not work: {result['problem']}"] if result["problem"] else [])
        if "status" in result:
            return _progress_lines(result["status"])
        if "questions" in result:
            return _comparison_lines(result)
        if "dropped" in result:
            return [f"{result['dropped']} is removed, with {result['vectors']:,} vectors."]
        return [_line(result["model"])]


def _told(model: EmbeddingModel) -> dict[str, Any]:
    return {
        "id": model.id,
        "model": model.slug,
        "dimensions": model.dimensions,
        "state": model.state,
        "problem": model.problem or None,
    }


def _line(model: Mapping[str, Any]) -> str:
    state = ModelState(model["state"]).label
    return f"{model['id']}  {model['model']}: {state}" + (f" – {model['problem']}" if model["problem"] else "")


def _progress(status: ModelStatus) -> dict[str, Any]:
    return {
        **_told(status.model),
        "configuredAs": list(status.configured_as),
        "memories": status.total,
        "embedded": status.done,
        "remaining": status.remaining,
        "failing": status.failing,
        "perMinute": status.model.per_minute,
        "secondsLeft": None if status.seconds_left is None else round(status.seconds_left),
        "indexes": status.indexes,
        "indexesReady": status.indexes_ready,
    }


def _progress_lines(status: Mapping[str, Any]) -> list[str]:
    lines = [_line(status), f"  {status['embedded']:,} of {status['memories']:,} memories are embedded"]
    if status["secondsLeft"] is not None:
        lines[1] += f", about {max(round(status['secondsLeft'] / 60), 1):,} minutes are left"
    if status["failing"]:
        lines.append(f"  {status['failing']:,} were tried in vain; the admin's pending embeddings tell why")
    if status["indexes"]:
        lines.append(f"  {status['indexesReady']:,} of {status['indexes']:,} indexes of large spaces are built")
    if not status["configuredAs"]:
        lines.append("  No setting describes it any more: it cannot be asked.")
    return lines


def _compared(asked: ComparedQuestion) -> dict[str, Any]:
    def side(matches: tuple[tuple[Any, str, float], ...]) -> list[dict[str, Any]]:
        return [{"id": i, "text": excerpt(text, 200), "score": round(score, 4)} for i, text, score in matches]

    return {
        "question": asked.question,
        "overlap": round(asked.overlap, 3),
        "searched": side(asked.searched.matches),
        "candidate": side(asked.candidate.matches),
    }


def _comparison_lines(result: Mapping[str, Any]) -> list[str]:
    lines = [f"{result['searched']} and {result['candidate']} share {result['overlap']:.0%} of what they find."]
    if result["candidateLacks"]:
        lines.append(f"  {result['candidateLacks']:,} memories of the space are not embedded by the second one yet.")
    for asked in result["questions"]:
        lines.append(f"{asked['question']} ({asked['overlap']:.0%})")
        first, second = asked["searched"], asked["candidate"]
        for number in range(max(len(first), len(second))):
            left, right = (
                " ".join(excerpt(side[number]["text"], 50).split()) if number < len(side) else ""
                for side in (first, second)
            )
            lines.append(f"  {number + 1:>2}  {left:<52}{right}")
    return lines
