"""Settings of a client, from its options or SERVICE_* variables.

The one place that reads the environment, and only when a setting is needed: a client may be made before the variables
are loaded. Reading a setting that is missing, and needed in this mode, raises a ConfigError.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from ._checkpoint import Checkpoint
from ._logging import AnyLogger
from ._signature import is_signing_key
from ._transport import Transport
from .errors import ConfigError

DEFAULT_MAX_BYTES = 512 * 1_024
_DEV_BASE_URL = "http://127.0.0.1:8288"
_DEV_EVENT_KEY = "dev"

DEV_HINT = (
    "For a service on your own machine set SERVICE_DEV=1 instead, "
    "or SERVICE_DEV=http://127.0.0.1:<port> when it does not listen on port 8288"
)
"""For who has forgotten that a service on the own machine is one in dev mode."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of `Tidegate()`, which documents them."""

    event_key: str | None = None
    base_url: str | None = None
    env: str | None = None
    is_dev: bool | None = None
    signing_key: str | None = None
    signing_key_fallback: str | None = None
    max_bytes: int | None = None
    error_source: bool | None = None
    logs: bool | None = None
    checkpoint: Checkpoint | bool | None = None
    app_version: str | None = None


@dataclass(frozen=True)
class Settings:
    options: Options
    variables: Mapping[str, str] = field(repr=False)
    logger: AnyLogger
    transport: Transport

    @property
    def mode(self) -> Literal["dev", "cloud"]:
        """Also the kind of service this client means to reach."""
        dev, _ = self._service_dev
        chosen = dev if self.options.is_dev is None else self.options.is_dev
        return "dev" if chosen else "cloud"

    @property
    def env(self) -> str | None:
        return self.options.env or self.variables.get("SERVICE_ENV") or None

    @property
    def max_bytes(self) -> int:
        return DEFAULT_MAX_BYTES if self.options.max_bytes is None else self.options.max_bytes

    @property
    def error_source(self) -> bool:
        return self._is_on("SERVICE_ERROR_SOURCE", self.options.error_source)

    @property
    def logs(self) -> bool | None:
        """None when nobody told: unless a middleware encodes values."""
        if self.options.logs is None and not self.variables.get("SERVICE_LOGS"):
            return None
        return self._is_on("SERVICE_LOGS", self.options.logs)

    @property
    def checkpoint(self) -> Checkpoint | bool | None:
        """None: as the platform allows."""
        return self.options.checkpoint

    @property
    def app_version(self) -> str | None:
        return self.options.app_version

    @property
    def is_serverless(self) -> bool:
        """Whether the platform limits how long a request may take, and charges for the time."""
        return any(map(self.variables.get, ("AWS_LAMBDA_FUNCTION_NAME", "VERCEL", "FUNCTIONS_WORKER_RUNTIME")))

    @property
    def serve_origin(self) -> str | None:
        """Under which the service reaches the app; without a trailing slash."""
        origin = self.variables.get("SERVICE_SERVE_ORIGIN")
        return to_origin(origin) if origin else None

    @property
    def base_url(self) -> str:
        """Without a trailing slash."""
        dev = self.mode == "dev"
        _, dev_url = self._service_dev
        url = (
            self.options.base_url
            or (dev_url if dev else None)
            or self.variables.get("SERVICE_BASE_URL")
            or (_DEV_BASE_URL if dev else None)
        )
        if not url:
            raise _missing("base URL", "SERVICE_BASE_URL", "base_url")
        if not _is_http_url(url):
            raise ConfigError(
                "The base URL (SERVICE_BASE_URL, or the option base_url) is not an http(s) address: " + json.dumps(url)
            )
        return url.rstrip("/")

    @property
    def event_key(self) -> str:
        fallback = _DEV_EVENT_KEY if self.mode == "dev" else None
        key = self.options.event_key or self.variables.get("SERVICE_EVENT_KEY") or fallback
        if not key:
            raise _missing("event key", "SERVICE_EVENT_KEY", "event_key")
        return key

    @property
    def signing_key(self) -> str:
        key = self.options.signing_key or self.variables.get("SERVICE_SIGNING_KEY")
        if not key:
            raise _missing("signing key", "SERVICE_SIGNING_KEY", "signing_key")
        return _check_signing_key(key, "SERVICE_SIGNING_KEY", "signing_key")

    @property
    def signing_key_fallback(self) -> str | None:
        key = self.options.signing_key_fallback or self.variables.get("SERVICE_SIGNING_KEY_FALLBACK")
        if not key:
            return None
        return _check_signing_key(key, "SERVICE_SIGNING_KEY_FALLBACK", "signing_key_fallback")

    def _is_on(self, variable: str, option: bool | None) -> bool:
        return self.variables.get(variable, "") not in ("0", "false") if option is None else option

    @property
    def _service_dev(self) -> tuple[bool, str | None]:
        value = self.variables.get("SERVICE_DEV", "")
        if value in ("", "0", "false"):
            return False, None
        if value in ("1", "true"):
            return True, None
        if _is_http_url(value):
            return True, value
        raise ConfigError(f"SERVICE_DEV: got {json.dumps(value)}; it takes 1, true, 0, false or an http(s) address")


def to_origin(url: str) -> str:
    """Raises ConfigError when it is no address, or one with a path."""
    if _is_http_url(url):
        parts = urlsplit(url)
        if parts.path in ("", "/") and not parts.query:
            return url.rstrip("/")
    raise ConfigError(
        "The serve origin (SERVICE_SERVE_ORIGIN, or the option serve_origin) must be such as https://shop.example, "
        f"got {json.dumps(url)}"
    )


def _check_signing_key(key: str, variable: str, option: str) -> str:
    """Says nothing of the key itself."""
    if is_signing_key(key):
        return key
    raise ConfigError(f"The signing key ({variable}, or the option {option}) must look like signkey-<word>-<hex>")


def _is_http_url(value: str) -> bool:
    try:
        parts = urlsplit(value)
        # Reading it checks it.
        _ = parts.port
    except ValueError:
        return False
    return value.startswith(("http://", "https://")) and bool(parts.hostname) and not any(map(str.isspace, value))


def _missing(what: str, variable: str, option: str) -> ConfigError:
    return ConfigError(f"There is no {what}: set {variable} (or pass {option} to Tidegate()). {DEV_HINT}")
