"""Exactly once with the app's own Postgres: events that are sent if, and only if, a transaction commits.

The tables are in the app's database: `tidegate outbox migrate --print` prints them for its migrations.
"""

from ._postgres.outbox import outbox, outbox_sync
from ._postgres.relay import Relay
from ._postgres.relay_work import OutboxStatus

__all__ = ["OutboxStatus", "Relay", "outbox", "outbox_sync"]
