import logging
import os
import time
from typing import Any

import uvicorn
from fastapi import FastAPI

from tidegate import Context, FunctionCall, Middleware, Next, NextSync, StepCall, Tidegate
from tidegate.encryption import Encryption
from tidegate.fastapi import serve


class Bank:
    """What handlers need."""

    async def charge(self, card: str) -> str:
        return f"Charged the card {card}"


class WithBank(Middleware):
    """Hands the bank on to handlers."""

    async def on_run(self, call: FunctionCall, next: Next) -> Any:
        call.inject(Bank, Bank())
        return await next()


class Timed(Middleware):
    """Logs how long each step takes."""

    async def on_step(self, step: StepCall, next: Next) -> Any:
        begin = time.monotonic()
        try:
            return await next()
        finally:
            self._log(step, begin)

    def on_step_sync(self, step: StepCall, next: NextSync) -> Any:
        begin = time.monotonic()
        try:
            return next()
        finally:
            self._log(step, begin)

    def _log(self, step: StepCall, begin: float) -> None:
        logging.info("Run %s: %s took %.3f s", step.run_id, step.name, time.monotonic() - begin)


client = Tidegate(app_id="shop", middleware=[Encryption(key=os.environ["ENCRYPTION_KEY"]), Timed()])


@client.create_function(
    id="charge-order",
    description="Charges the card of an order",
    group="payments",
    trigger="order/confirmed",
    middleware=[WithBank()],
)
async def charge_order(ctx: Context) -> str:
    bank = ctx.deps[Bank]
    return await ctx.step.run("charge", bank.charge, ctx.event.data["encrypted"]["card"])


app = FastAPI()
serve(app, client, [charge_order], path="/api/service")

if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    uvicorn.run(app, host="127.0.0.1", port=3000)
