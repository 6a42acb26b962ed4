"""The Python part of test/languages/versions.test.ts: an app of one version (TEST_VERSION), which pins its runs.

Takes the service's address as the client does (SERVICE_DEV), and listens as host.py does. Its functions put out which
version ran their first and their last step: waits, on versions-py/start, for versions-py/go; naps, on versions-py/nap.
"""

import asyncio
import os
from datetime import timedelta

import host

import tidegate
import tidegate.asgi

PATH = "/api/service"
VERSION = os.environ["TEST_VERSION"]

client = tidegate.Tidegate(app_id="versions-py", app_version=VERSION, versioning="pinned")


@client.create_function(id="waits", trigger="versions-py/start")
async def waits(ctx: tidegate.Context) -> dict[str, str]:
    first = await ctx.step.run("first", lambda: VERSION)
    await ctx.step.wait_for_event("go", event="versions-py/go", timeout=timedelta(hours=1))
    return {"first": first, "last": await ctx.step.run("last", lambda: VERSION)}


@client.create_function(id="naps", trigger="versions-py/nap")
async def naps(ctx: tidegate.Context) -> dict[str, str]:
    first = await ctx.step.run("first", lambda: VERSION)
    await ctx.step.sleep("nap", timedelta(minutes=30))
    return {"first": first, "last": await ctx.step.run("last", lambda: VERSION)}


if __name__ == "__main__":
    asyncio.run(host.serve_until_stdin_ends(tidegate.asgi.serve(client, [waits, naps], path=PATH), PATH))
