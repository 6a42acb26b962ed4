"""The base of the tests: real HTTP listeners."""
