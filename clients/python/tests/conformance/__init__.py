"""The language-neutral cases of clients/conformance, run by this client."""
