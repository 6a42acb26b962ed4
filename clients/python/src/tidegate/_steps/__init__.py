"""The replay of functions: steps, their memos, and what a call comes to."""
