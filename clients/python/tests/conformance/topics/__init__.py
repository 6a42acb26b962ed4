"""An adapter a topic: its `check` runs one case; its FIELDS are those of a case that it reads."""
