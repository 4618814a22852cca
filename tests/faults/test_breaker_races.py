"""What happens at the same moment: a lease that runs out while its holder asks for it."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.db.models.functions import Now

from annotator.actions import queueing
from annotator.models import Assignment, QueueRow
from tests import factories as make

pytestmark = pytest.mark.django_db(transaction=True)


def test_work_that_is_reclaimed_while_its_holder_asks_for_it_comes_back_with_a_slot() -> None:
    project = make.project()
    row = make.work(project)
    actor = make.actor(project)
    held = queueing.next_assignment(actor=actor)
    Assignment.objects.filter(pk=held.pk).update(lease_expires_at=Now() - timedelta(seconds=1))
    found: list[Assignment | Exception] = []

    def ask() -> None:
        try:
            found.append(queueing.next_assignment(actor=actor))
        except Exception as error:  # noqa: BLE001  what a page would show as an error of the server
            found.append(error)
        finally:
            connection.close()

    asking = threading.Thread(target=ask)
    with transaction.atomic():
        queueing.reclaim()
        asking.start()
        asking.join(1)  # it has read that the assignment is live, and waits for ours to end
    asking.join(20)

    (back,) = found
    assert isinstance(back, Assignment)
    assert (back.pk, back.state, back.slot) == (held.pk, Assignment.State.LIVE, 0)
    assert QueueRow.objects.get(pk=row.pk).taken == 1
