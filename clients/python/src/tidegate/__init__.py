"""Send events to Tidegate, and define the functions that run on them.

To host these: `tidegate.fastapi`, `tidegate.django` and so on; to test them: `tidegate.testing`.
"""

from . import verify_webhook
from ._app_request import AppRequest
from ._client import Tidegate
from ._context import Context, FailureContext, SyncContext, SyncFailureContext
from ._create import FunctionDecorator
from ._events import Event, EventData, EventOrEvents, EventToSend, ReceivedEvent
from ._flow import (
    BatchEvents,
    CancelOn,
    Concurrency,
    ConcurrencyOfRunsAndSteps,
    Debounce,
    Priority,
    RateLimit,
    Singleton,
    Throttle,
    Timeouts,
)
from ._functions import CronTrigger, EventTrigger, Function, Trigger
from ._handler import Handler
from ._moments import Duration
from ._received import FetchResponse, ReceivedSignal
from ._run_call import AppAnswer
from ._steps.sync_tools import SyncSteps
from ._steps.tools import Steps
from ._transport import HttpRequest, HttpResponse, Transport
from ._version import VERSION as __version__
from .errors import (
    ConfigError,
    NonRetriableError,
    RemoteError,
    RetryAfterError,
    SendError,
    StepError,
    TidegateError,
    TransportError,
    WebhookVerificationError,
)

__all__ = [
    "AppAnswer",
    "AppRequest",
    "BatchEvents",
    "CancelOn",
    "Concurrency",
    "ConcurrencyOfRunsAndSteps",
    "ConfigError",
    "Context",
    "CronTrigger",
    "Debounce",
    "Duration",
    "Event",
    "EventData",
    "EventOrEvents",
    "EventToSend",
    "EventTrigger",
    "FailureContext",
    "FetchResponse",
    "Function",
    "FunctionDecorator",
    "Handler",
    "HttpRequest",
    "HttpResponse",
    "NonRetriableError",
    "Priority",
    "RateLimit",
    "ReceivedEvent",
    "ReceivedSignal",
    "RemoteError",
    "RetryAfterError",
    "SendError",
    "Singleton",
    "StepError",
    "Steps",
    "SyncContext",
    "SyncFailureContext",
    "SyncSteps",
    "Throttle",
    "Tidegate",
    "TidegateError",
    "Timeouts",
    "Transport",
    "TransportError",
    "Trigger",
    "WebhookVerificationError",
    "__version__",
    "verify_webhook",
]
