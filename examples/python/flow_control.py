import urllib.request
from typing import Any

import uvicorn
from fastapi import FastAPI

from tidegate import (
    BatchEvents,
    CancelOn,
    Concurrency,
    ConcurrencyOfRunsAndSteps,
    Context,
    CronTrigger,
    Debounce,
    Priority,
    RateLimit,
    Singleton,
    SyncContext,
    Throttle,
    Tidegate,
    Timeouts,
)
from tidegate.fastapi import serve

client = Tidegate(app_id="shop")
customer = "event.data.customer"


def fetch(url: str) -> int:
    with urllib.request.urlopen(url) as response:
        return int(response.status)


# Two steps at a time.
@client.create_function(id="resize-image", trigger="image/uploaded", concurrency=2)
def resize_image(ctx: SyncContext) -> int:
    return ctx.step.run("resize", fetch, ctx.event.data["url"])


# One step per customer, and ten steps of all functions that use the CRM.
@client.create_function(
    id="sync-customer",
    trigger="customer/changed",
    concurrency=(Concurrency(limit=1, key=customer), Concurrency(limit=10, key='"crm"', scope="account")),
)
def sync_customer(ctx: SyncContext) -> str:
    return ctx.step.run("sync", lambda: "synced")


# One run per customer from start to end, and five steps of all customers.
@client.create_function(
    id="import-orders",
    trigger="orders/exported",
    concurrency=ConcurrencyOfRunsAndSteps(fn=Concurrency(limit=1, key=customer), step=Concurrency(limit=5)),
)
def import_orders(ctx: SyncContext) -> str:
    return ctx.step.run("import", lambda: "imported")


# 60 starts a minute per customer, and five more at once. More runs wait.
@client.create_function(
    id="call-partner", trigger="parcel/packed", throttle=Throttle(limit=60, period="1m", burst=5, key=customer)
)
def call_partner(ctx: SyncContext) -> str:
    return "called"


# One mail an hour per customer. More events start no run.
@client.create_function(
    id="warn-customer", trigger="stock/low", rate_limit=RateLimit(limit=1, period="1h", key=customer)
)
def warn_customer(ctx: SyncContext) -> dict[str, Any]:
    return {"warned": ctx.event.data["customer"]}


# Once a product has not changed for 2 s, or has changed for 10 s: its latest change.
@client.create_function(
    id="index-product", trigger="product/changed", debounce=Debounce(period=2, timeout=10, key="event.data.sku")
)
def index_product(ctx: SyncContext) -> dict[str, Any]:
    return {"price": ctx.event.data["price"]}


# Three clicks of a page in one run, or as many as come in 5 s. A purchase is stored alone.
@client.create_function(
    id="store-clicks",
    trigger="page/clicked",
    batch_events=BatchEvents(max_size=3, timeout=5, key="event.data.page", if_='event.data.button != "buy"'),
)
def store_clicks(ctx: SyncContext) -> dict[str, Any]:
    return {"stored": [event.data["button"] for event in ctx.events]}


# One report per customer at a time. More events start no run.
@client.create_function(id="build-report", trigger="report/asked", singleton=Singleton(mode="skip", key=customer))
def build_report(ctx: SyncContext) -> int:
    return ctx.step.run("build", fetch, ctx.event.data["url"])


# Customers who pay go before all questions of the last two minutes.
@client.create_function(
    id="answer-question", trigger="question/asked", priority=Priority(run='event.data.plan == "pro" ? 120 : 0')
)
def answer_question(ctx: SyncContext) -> str:
    return "answered"


# Once per order in 24 hours, however many events tell of it.
@client.create_function(id="charge-order", trigger="order/confirmed", idempotency="event.data.orderId")
def charge_order(ctx: SyncContext) -> dict[str, Any]:
    return {"charged": ctx.event.data["orderId"]}


# Cancelled if it does not start in ten minutes, or does not end in an hour.
@client.create_function(id="reserve-stock", trigger="order/placed", timeouts=Timeouts(start="10m", finish="1h"))
def reserve_stock(ctx: SyncContext) -> str:
    return "reserved"


# Cancelled by the payment.
@client.create_function(
    id="remind-customer",
    trigger="order/placed",
    cancel_on=[CancelOn(event="order/paid", if_="event.data.orderId == async.data.orderId", timeout="7d")],
)
async def remind_customer(ctx: Context) -> str:
    await ctx.step.sleep("wait for the payment", "3d")
    return "reminded"


# On weekdays at nine in Berlin, or up to five minutes later.
@client.create_function(id="mail-report", trigger=CronTrigger("TZ=Europe/Berlin 0 9 * * mon-fri", jitter="5m"))
def mail_report(ctx: SyncContext) -> str:
    return "mailed"


app = FastAPI()
functions = [
    *(resize_image, sync_customer, import_orders, call_partner, warn_customer, index_product, store_clicks),
    *(build_report, answer_question, charge_order, reserve_stock, remind_customer, mail_report),
]
serve(app, client, functions, path="/api/service")

if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=3000)
