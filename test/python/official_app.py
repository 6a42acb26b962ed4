"""An app written with the official Python SDK of the protocol, for test/official.

    official_app.py async|sync|features

Takes the service's address and keys as that SDK does (INNGEST_DEV, or INNGEST_BASE_URL with INNGEST_EVENT_KEY and
INNGEST_SIGNING_KEY), and listens as host.py does. The functions are those of test/official/scenarios.ts: `async def` in
the app official-py-async, plain `def` in official-py-sync; or those of features.ts, in official-py-features.
"""

import asyncio
import logging
import sys

import fastapi
import host
import inngest
import inngest.fast_api
import official_async
import official_features
import official_sync

PATH = "/api/inngest"
KINDS = {"async": official_async, "sync": official_sync, "features": official_features}


def official_app(kind: str) -> fastapi.FastAPI:
    client = inngest.Inngest(app_id=f"official-py-{kind}", logger=logging.getLogger("app"))
    app = fastapi.FastAPI()
    inngest.fast_api.serve(app, client, KINDS[kind].functions(client), serve_path=PATH)
    return app


if __name__ == "__main__":
    asyncio.run(host.serve_until_stdin_ends(official_app(sys.argv[1]), PATH))
