"""The Python part of test/languages/together.test.ts.

Takes the service's address as the client does (SERVICE_DEV), and listens as host.py does. Its function:

    together-py-tells, which is only invoked: doubles its data's "n", tells that by the event together/told, and puts
    out {"doubled": …}.
"""

import asyncio

import host

import tidegate
import tidegate.asgi

PATH = "/api/service"

client = tidegate.Tidegate(app_id="together-py")


@client.create_function(id="tells", trigger="together/never-sent")
async def tells(ctx: tidegate.Context) -> dict[str, int]:
    n: int = ctx.event.data["n"]
    doubled = await ctx.step.run("double", lambda: n * 2)
    await ctx.step.send_event("tell", tidegate.Event(name="together/told", data={"n": n, "doubled": doubled}))
    return {"doubled": doubled}


if __name__ == "__main__":
    asyncio.run(host.serve_until_stdin_ends(tidegate.asgi.serve(client, [tells], path=PATH), PATH))
