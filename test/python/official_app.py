"""An app written with the official Python SDK of the protocol, for test/official.

    official_app.py async|sync|features [connect]

Takes the service's address and keys as that SDK does (INNGEST_DEV, or INNGEST_BASE_URL with INNGEST_EVENT_KEY and
INNGEST_SIGNING_KEY), and listens as host.py does. The functions are those of test/official/scenarios.ts: `async def` in
the app official-py-async, plain `def` in official-py-sync; or those of features.ts, in official-py-features. With
`connect` the app opens a WebSocket instead of listening.
"""

import asyncio
import json
import logging
import sys

import fastapi
import host
import inngest
import inngest.connect
import inngest.fast_api
import official_async
import official_features
import official_sync

PATH = "/api/inngest"
KINDS = {"async": official_async, "sync": official_sync, "features": official_features}


def client_of(kind: str) -> inngest.Inngest:
    return inngest.Inngest(app_id=f"official-py-{kind}", logger=logging.getLogger("app"))


def official_app(kind: str) -> fastapi.FastAPI:
    client = client_of(kind)
    app = fastapi.FastAPI()
    inngest.fast_api.serve(app, client, KINDS[kind].functions(client), serve_path=PATH)
    return app


async def connect_until_stdin_ends(kind: str) -> None:
    client = client_of(kind)
    connection = inngest.connect.connect([(client, KINDS[kind].functions(client))])
    running = asyncio.create_task(connection.start())
    await connection.wait_for_state(inngest.connect.ConnectionState.ACTIVE)
    print(json.dumps({"url": "wss://connect"}), flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await connection.close(wait=True)
    await running


if __name__ == "__main__":
    if sys.argv[2:] == ["connect"]:
        asyncio.run(connect_until_stdin_ends(sys.argv[1]))
    else:
        asyncio.run(host.serve_until_stdin_ends(official_app(sys.argv[1]), PATH))
