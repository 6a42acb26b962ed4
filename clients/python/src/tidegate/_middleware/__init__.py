"""Middleware around calls, steps and sends of functions."""
