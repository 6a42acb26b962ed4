"""What `tidegate.testing` stands on."""
