"""The Python part of test/languages/connections.test.ts.

Connects to the service (SERVICE_DEV), prints its states, and ends when its stdin does. Its function runs three steps,
each of which is a request to STEPS_URL: the test sees it begin, and lets it end.
"""

import asyncio
import json
import os
import sys
import urllib.request

from tidegate import Context, Tidegate
from tidegate.connect import connect

client = Tidegate("connected-python")


def ask(step: str) -> str:
    with urllib.request.urlopen(os.environ["STEPS_URL"] + step) as response:
        return response.read().decode()


@client.create_function(id="fn", trigger="connected/python", retries=0)
async def fn(ctx: Context) -> list[str]:
    return [await ctx.step.run(name, asyncio.to_thread, ask, name) for name in ("a", "b", "c")]


async def main() -> None:
    print(json.dumps({"url": ""}), flush=True)
    async with client, await connect(client, [fn], on_state=lambda state: print(state, flush=True)):
        await asyncio.to_thread(sys.stdin.read)


asyncio.run(main())
