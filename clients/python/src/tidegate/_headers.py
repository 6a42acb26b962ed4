"""The protocol's headers: no other file spells their names. This client speaks the neutral dialect."""

from typing import Final

from ._version import VERSION

_PREFIX = "x-service-"

SDK_HEADER: Final = f"{_PREFIX}sdk"
ENV: Final = f"{_PREFIX}env"
SIGNATURE: Final = f"{_PREFIX}signature"
SIGNATURE_URL: Final = f"{_PREFIX}signature-url"
REQ_VERSION_HEADER: Final = f"{_PREFIX}req-version"
NO_RETRY: Final = f"{_PREFIX}no-retry"
EXPECTED_SERVER_KIND: Final = f"{_PREFIX}expected-server-kind"
EVENT_ID_SEED: Final = f"{_PREFIX}event-id-seed"
FRAMEWORK: Final = f"{_PREFIX}framework"
WHAT_IF: Final = f"{_PREFIX}what-if"
REQUEST_ID: Final = "x-request-id"
RETRY_AFTER: Final = "retry-after"

SDK: Final = f"py:v{VERSION}"
"""How this library names itself, in the sdk header and when it registers."""

REQ_VERSION: Final = "2"
"""The execution version that this library speaks."""
