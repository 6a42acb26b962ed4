"""An app's connection to the service (docs/protocol.md#connect)."""
