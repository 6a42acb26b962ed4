from tidegate import Tidegate

client = Tidegate(app_id="example-shop-python")


def say(function_id: str, line: str) -> None:
    """What a function does."""
    print(f"{function_id:<18}{line}", flush=True)
