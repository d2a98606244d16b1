"""What other apps hear about spaces."""

from django.dispatch import Signal

# Sent after a space's language was changed, with `space`: whatever was derived from its words is to be made anew.
space_language_changed = Signal()
