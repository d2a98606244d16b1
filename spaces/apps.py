from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class SpacesConfig(AppConfig):
    name = "spaces"
    verbose_name = _("Spaces")
