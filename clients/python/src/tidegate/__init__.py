"""Send events to Tidegate, and define the functions that run on them.

To host these: `tidegate.fastapi`, `tidegate.django` and so on; to test them: `tidegate.testing`.
"""

from . import verify_webhook
from ._app_request import AppRequest
from ._checkpoint import Checkpoint
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
    Order,
    Priority,
    RateLimit,
    Singleton,
    Throttle,
    Timeouts,
)
from ._functions import CronTrigger, EventTrigger, Function, Trigger
from ._handler import Handler
from ._middleware.calls import FunctionCall, SendCall, StepCall
from ._middleware.dependencies import Dependencies
from ._middleware.middleware import Middleware, Next, NextSync, Place, ValueAt
from ._moments import Duration
from ._received import FetchResponse, ReceivedSignal
from ._run_call import AppAnswer
from ._steps.current import CurrentStep, current_step
from ._steps.invocable import FunctionReference, reference_function
from ._steps.sync_tools import SyncSteps
from ._steps.tools import Steps
from ._transport import HttpRequest, HttpResponse, Transport
from ._version import VERSION as __version__
from .errors import (
    ConfigError,
    ConnectError,
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
    "Checkpoint",
    "Concurrency",
    "ConcurrencyOfRunsAndSteps",
    "ConfigError",
    "ConnectError",
    "Context",
    "CronTrigger",
    "CurrentStep",
    "Debounce",
    "Dependencies",
    "Duration",
    "Event",
    "EventData",
    "EventOrEvents",
    "EventToSend",
    "EventTrigger",
    "FailureContext",
    "FetchResponse",
    "Function",
    "FunctionCall",
    "FunctionDecorator",
    "FunctionReference",
    "Handler",
    "HttpRequest",
    "HttpResponse",
    "Middleware",
    "Next",
    "NextSync",
    "NonRetriableError",
    "Order",
    "Place",
    "Priority",
    "RateLimit",
    "ReceivedEvent",
    "ReceivedSignal",
    "RemoteError",
    "RetryAfterError",
    "SendCall",
    "SendError",
    "Singleton",
    "StepCall",
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
    "ValueAt",
    "WebhookVerificationError",
    "__version__",
    "current_step",
    "reference_function",
    "verify_webhook",
]
