"""Forms of the admin: members with one level each, and keys with what they reach."""

from datetime import datetime
from typing import Any

from django import forms
from django.contrib.auth.models import Group
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models import ApiKey, User
from spaces.models import Space, SpaceGrant, SpaceGroupPermission, SpaceUserPermission
from spaces.services.members import remove_member, set_member_permission
from spaces.services.provisioning import FURTHEST_EXPIRY

LEVELS = (
    ("read_space", _("Read")),
    ("write_space", _("Read and write")),
    ("manage_space", _("Manage: read, write and administer")),
)


class _MemberForm(forms.ModelForm[Any]):
    """One row: a member, or a space of one, and the level."""

    level = forms.ChoiceField(label=_("Level"), choices=LEVELS, initial="write_space")

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        if self.instance.pk:
            self.fields["level"].initial = self.instance.permission.codename


class PersonMemberForm(_MemberForm):
    """On a space's page: a person."""

    class Meta:
        model = SpaceUserPermission
        fields = ("user",)
        labels = {"user": _("Person")}  # noqa: RUF012 - Django declares it so


class GroupMemberForm(_MemberForm):
    """On a space's page: a group."""

    class Meta:
        model = SpaceGroupPermission
        fields = ("group",)
        labels = {"group": _("Group")}  # noqa: RUF012


class NamedField(forms.ModelChoiceField[Any]):
    """A row named by its unique text in one field, for those who may not see a list of all of them.

    `known` are rows of the form, which are shown without being asked for.
    """

    def __init__(self, queryset: Any, name: str, **options: Any) -> None:
        super().__init__(queryset, widget=forms.TextInput(attrs={"class": "vTextField"}), **options)
        self.name = name
        self.known: dict[Any, Any] = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> "NamedField":
        copied: NamedField = super().__deepcopy__(memo)
        copied.known = {}
        return copied

    def prepare_value(self, value: Any) -> Any:
        row = self.known.get(value, value)
        return getattr(row, self.name, row)

    def to_python(self, value: Any) -> Any:
        if value in self.empty_values:
            return None
        text = str(value).strip()
        rows: Any = self.queryset
        found = rows.filter(**{f"{self.name}__iexact": text}).first() if "\x00" not in text else None
        if found is None:
            raise forms.ValidationError(self.error_messages["invalid_choice"], code="invalid_choice")
        return found


class _NamedMemberForm(_MemberForm):
    """As `_MemberForm`, where the member is named in words."""

    member: str

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        field = self.fields[self.member]
        if self.instance.pk and isinstance(field, NamedField):
            field.known[getattr(self.instance, f"{self.member}_id")] = getattr(self.instance, self.member)


class PersonByAddressForm(_NamedMemberForm):
    """On a space's page, for those who manage it: a person by e-mail address."""

    member = "user"
    user = NamedField(
        User.objects.all(),
        "email",
        label=_("Person"),
        help_text=_("The e-mail address."),
        error_messages={"invalid_choice": _("Nobody has this e-mail address; an administrator adds people.")},
    )

    class Meta:
        model = SpaceUserPermission
        fields = ("user",)


class GroupByNameForm(_NamedMemberForm):
    """On a space's page, for those who manage it: a group by name."""

    member = "group"
    group = NamedField(
        Group.objects.all(),
        "name",
        label=_("Group"),
        help_text=_("The name."),
        error_messages={"invalid_choice": _("No group has this name; an administrator adds groups.")},
    )

    class Meta:
        model = SpaceGroupPermission
        fields = ("group",)


class MembershipForm(_MemberForm):
    """On a person's page: a space."""

    class Meta:
        model = SpaceUserPermission
        fields = ("content_object",)
        labels = {"content_object": _("Space")}  # noqa: RUF012


class MemberFormSet(forms.BaseInlineFormSet[Any, Any, Any]):
    """Memberships with one level each, whichever of the two sides the page belongs to.

    Saved through the service, not row by row: a member then never has two levels, nor loses one that was just given.
    """

    def clean(self) -> None:
        super().clean()
        seen: set[Any] = set()
        for form in self.forms:
            other = form.cleaned_data.get(self._other_field) if hasattr(form, "cleaned_data") else None
            if other is None or form.cleaned_data.get("DELETE"):
                continue
            if other in seen:
                form.add_error(None, _("This is in the list twice; keep one row with the level you mean."))
            seen.add(other)

    def save(self, commit: bool = True) -> list[Any]:
        """Bring the database to what the form says; fills what the admin writes into its log."""
        self.new_objects: list[Any] = []
        self.changed_objects: list[Any] = []
        self.deleted_objects: list[Any] = []
        rows = [form for form in self.forms if form.cleaned_data.get(self._other_field)]
        kept = [form for form in rows if not form.cleaned_data.get("DELETE")]
        still_there = {form.cleaned_data[self._other_field].pk for form in kept}
        # A row that is gone, or was never one of this page, has no initial values.
        there = [form for form in self.initial_forms if self._other_field in form.initial]
        before = {form.initial[self._other_field]: form for form in there}
        gone = [key for key in before if key not in still_there]
        for other in self._others.filter(pk__in=gone):
            self.deleted_objects.append(before[other.pk].instance)
            remove_member(*self._pair(other))
        saved = []
        for form in kept:
            if not form.has_changed():
                continue
            space, member = self._pair(form.cleaned_data[self._other_field])
            row = set_member_permission(space, member, form.cleaned_data["level"])
            saved.append(row)
            if form in self.initial_forms:
                self.changed_objects.append((row, form.changed_data))
            else:
                self.new_objects.append(row)
        return saved

    @property
    def _other_field(self) -> str:
        """The field that names the side the page does not belong to."""
        return next(name for name in ("user", "group", "content_object") if name in self.form.base_fields)

    @property
    def _others(self) -> Any:
        field: Any = self.form.base_fields[self._other_field]
        return field.queryset

    def _pair(self, other: Any) -> tuple[Space, User | Group]:
        return (other, self.instance) if isinstance(other, Space) else (self.instance, other)


class KeyForm(forms.ModelForm[ApiKey]):
    class Meta:
        model = ApiKey
        fields = ("user", "label", "expires_at")

    def clean_expires_at(self) -> datetime | None:
        moment: datetime | None = self.cleaned_data["expires_at"]
        if moment is None or "expires_at" not in self.changed_data:
            return moment
        if moment <= timezone.now():
            raise forms.ValidationError(_("The expiry must lie in the future; to end a key now, revoke it."))
        if moment >= timezone.now() + FURTHEST_EXPIRY:
            raise forms.ValidationError(_("The expiry must lie within a hundred years; left empty, there is none."))
        return moment


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
