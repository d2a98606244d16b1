"""Forms of the admin: members with one level each, and keys with what they reach."""

from typing import Any

from django import forms
from django.contrib.auth.models import Group, Permission
from django.utils.translation import gettext_lazy as _

from accounts.models import ApiKey, User
from spaces.models import SpaceGrant, SpaceGroupPermission, SpaceUserPermission

LEVELS = (
    ("read_space", _("Read")),
    ("write_space", _("Read and write")),
    ("manage_space", _("Manage: read, write and administer")),
)


class _MemberForm(forms.ModelForm[Any]):
    """One member with one level, stored as one guardian permission."""

    level = forms.ChoiceField(label=_("Level"), choices=LEVELS, initial="write_space")

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        if self.instance.pk:
            self.fields["level"].initial = self.instance.permission.codename

    def has_changed(self) -> bool:
        # A new row counts once somebody is chosen; its preselected level alone is no change.
        return super().has_changed()

    def _post_clean(self) -> None:
        level = self.cleaned_data.get("level")
        if level:
            self.instance.permission = Permission.objects.get(
                content_type__app_label="spaces", content_type__model="space", codename=level
            )
        super()._post_clean()  # type: ignore[misc]


class PersonMemberForm(_MemberForm):
    class Meta:
        model = SpaceUserPermission
        fields = ("user",)
        labels = {"user": _("Person")}  # noqa: RUF012 - Django declares it so


class GroupMemberForm(_MemberForm):
    class Meta:
        model = SpaceGroupPermission
        fields = ("group",)
        labels = {"group": _("Group")}  # noqa: RUF012


class MemberFormSet(forms.BaseInlineFormSet[Any, Any, Any]):
    """Each person or group once."""

    def clean(self) -> None:
        super().clean()
        seen: set[User | Group] = set()
        for form in self.forms:
            data = getattr(form, "cleaned_data", {})
            member = data.get("user") or data.get("group")
            if member is None or data.get("DELETE"):
                continue
            if member in seen:
                form.add_error(None, _("This member is in the list twice; keep one row with the level you mean."))
            seen.add(member)


class KeyForm(forms.ModelForm[ApiKey]):
    class Meta:
        model = ApiKey
        fields = ("user", "label", "expires_at")


class GrantFormSet(forms.BaseInlineFormSet[SpaceGrant, ApiKey, Any]):
    """Each space once, and at most one active space, whatever the order in which rows are saved."""

    def clean(self) -> None:
        super().clean()
        rows = [form for form in self.forms if form.cleaned_data and not form.cleaned_data.get("DELETE")]
        spaces = [form.cleaned_data.get("space") for form in rows if form.cleaned_data.get("space")]
        if len(set(spaces)) != len(spaces):
            raise forms.ValidationError(_("A space is in the list twice; keep one row for it."))
        if sum(bool(form.cleaned_data.get("is_default")) for form in rows) > 1:
            raise forms.ValidationError(_("Only one space of a key can be its active space; tick one."))

    def validate_unique(self) -> None:
        # Rows are checked together in `clean`: compared with the database one by one, moving the active space from
        # one row to another would look like two.
        return
