"""The form of a person in the admin."""

from django import forms

from accounts.models import User, normalise_email


class PersonForm(forms.ModelForm[User]):
    """A person as an administrator enters one: no password needed, since agents sign in with keys."""

    class Meta:
        model = User
        fields = ("email", "display_name", "role")

    def clean_email(self) -> str:
        # Compared in the one stored spelling, so that a taken address is told here and not by the database.
        return normalise_email(self.cleaned_data["email"])

    def save(self, commit: bool = True) -> User:
        user = super().save(commit=False)
        if not user.password:
            user.set_unusable_password()
        if commit:
            user.save()
            self.save_m2m()
        return user
