"""The parts of `tidegate.testing`."""
