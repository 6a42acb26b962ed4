"""What wraps calls, steps and sends of functions."""
