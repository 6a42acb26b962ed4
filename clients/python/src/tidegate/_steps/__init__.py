"""The replay of functions: steps, their memos, and the result of a call."""
