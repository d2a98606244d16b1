from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class MemoriesConfig(AppConfig):
    name = "memories"
    verbose_name = _("Memories")

    def ready(self) -> None:
        # A wrong provider setting stops every process at its start, with the name of the variable.
        from memories.embedding.checks import validate_embedding_settings

        validate_embedding_settings()

        from memories.extraction.checks import validate_extraction_settings

        validate_extraction_settings()

        # Everything that is a function of the database is declared by what the search imports.
        from memories.search import functions, service  # noqa: F401

        post_migrate.connect(functions.install, sender=self, dispatch_uid="memories.search_functions")

        from memories.services.reindex import request_reindex
        from spaces.signals import space_language_changed

        space_language_changed.connect(request_reindex, dispatch_uid="memories.reindex")

        from memories.history_commands import register_subcommands

        register_subcommands()

        from history.services.push import register_push
        from memories.services.pushes import apply_push

        register_push(apply_push)
