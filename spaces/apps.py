from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class SpacesConfig(AppConfig):
    name = "spaces"
    verbose_name = _("Spaces")

    def ready(self) -> None:
        from django.db.models.signals import post_migrate

        from spaces.policies import grant_rights

        # Once, when all apps are migrated.
        post_migrate.connect(grant_rights, sender=self, dispatch_uid="spaces.grant_rights")
