"""People: creating, deactivating and reactivating them."""

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction

from accounts.models import MAXIMUM_DISPLAY_NAME, MAXIMUM_EMAIL, Role, User, normalise_email
from core.errors import Conflict, Invalid, NotFound
from core.text import clean_line


def parse_email(email: object) -> str:
    """`email` in its one stored spelling. Raises `Invalid` when it is no e-mail address."""
    address = normalise_email(clean_line(email, "email", maximum=MAXIMUM_EMAIL))
    try:
        validate_email(address)
    except ValidationError:
        raise Invalid("email must be an e-mail address such as ada@example.org.") from None
    return address


def parse_role(role: object) -> Role:
    """A role by its name, in any case. Raises `Invalid` otherwise."""
    for known in Role:
        if isinstance(role, str) and role.strip().lower() == known.value.lower():
            return known
    raise Invalid(f"role must be {' or '.join(Role.values)}.")


def create_user(*, email: str, display_name: str | None = None, role: str = Role.WRITER) -> User:
    """A new person without a password: they act through keys until an administrator sets one.

    Raises `Invalid` for a bad address, name or role, and `Conflict` when the address is taken.
    """
    address = parse_email(email)
    name = clean_line(display_name, "name", maximum=MAXIMUM_DISPLAY_NAME, required=False)
    user = User(email=address, display_name=name, role=parse_role(role))
    user.set_unusable_password()
    try:
        with transaction.atomic():
            user.save(force_insert=True)
    except IntegrityError:
        raise Conflict(f"A person with the e-mail address {address} exists already.") from None
    return user


def get_user(email: str) -> User:
    """The person with this address. Raises `NotFound`."""
    address = parse_email(email)
    user = User.objects.filter(email=address).first()
    if user is None:
        raise NotFound(f"There is no person with the e-mail address {address}.")
    return user


def set_active(user: User, active: bool) -> bool:
    """Deactivate or reactivate a person; returns whether that changed anything. Their keys are left as they are."""
    changed = user.is_active != active
    if changed:
        user.is_active = active
        user.save(update_fields=["is_active", "updated_at"])
    return changed
