"""What the tests stand on: real HTTP listeners."""
