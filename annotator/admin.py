"""A read-only look at the tables for operators. Changes go through actions, so nothing can be edited here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth import admin as accounts  # noqa: F401  registers its pages before they are taken away
from django.contrib.auth.models import Group, User
from django.db.models import Model
from django.http import HttpRequest

from annotator import models

if TYPE_CHECKING:
    Base = admin.ModelAdmin[Model]
else:
    Base = admin.ModelAdmin


class ReadOnly(Base):
    """May be looked at by superusers; offers no way to add, change or delete."""

    show_full_result_count = False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(request.user.is_active and getattr(request.user, "is_superuser", False))

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class People(ReadOnly):
    """Accounts, without the hash of their password."""

    exclude = ("password",)


class WithoutSecrets(ReadOnly):
    """Webhooks, without what signs their messages."""

    exclude = ("secret",)


class WithoutBytes(ReadOnly):
    """Pictures and weights, without their content."""

    exclude = ("data", "snapshot")


OTHERS: dict[str, type[ReadOnly]] = {
    "Webhook": WithoutSecrets,
    "Attachment": WithoutBytes,
    "ExportRun": WithoutBytes,
    "ScorerWeights": WithoutBytes,
}

for name in models.__all__:
    value = getattr(models, name)
    if isinstance(value, type) and issubclass(value, Model):
        admin.site.register(value, OTHERS.get(name, ReadOnly))

# Django brings pages that make superusers and set passwords, past every action and with no trace in our audit log.
admin.site.unregister([User, Group])
admin.site.register(User, People)
