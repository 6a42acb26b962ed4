"""The parts of `tidegate.postgres`, and of `step.transaction`."""
