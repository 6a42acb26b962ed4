import math

from tidegate import Context, EventTrigger, RetryAfterError, SyncContext

from .client import client, say


@client.create_function(id="send-receipt", name="Send receipt", trigger="order/paid")
async def send_receipt(ctx: Context) -> dict[str, str]:
    order = ctx.event.data
    say("send-receipt", f"order {order['orderId']}: receipt for {order['total']} sent to {order['customer']}")
    return {"sentTo": order["customer"]}


@client.create_function(
    id="reward-big-order",
    name="Reward big order",
    trigger=EventTrigger("order/paid", if_="event.data.total > 100"),
)
async def reward_big_order(ctx: Context) -> dict[str, int]:
    order = ctx.event.data
    points = math.floor(order["total"] / 10)
    say("reward-big-order", f"order {order['orderId']}: {points} points for {order['customer']}")
    return {"points": points}


@client.create_function(id="flaky-stock-sync", name="Sync stock with the warehouse", trigger="stock/changed")
async def flaky_stock_sync(ctx: Context) -> dict[str, object]:
    sku, quantity = ctx.event.data["sku"], ctx.event.data["quantity"]
    if ctx.attempt == 0:
        say("flaky-stock-sync", f"{sku}: the warehouse is busy, once more in a second")
        raise RetryAfterError("The warehouse is busy", 1)
    say("flaky-stock-sync", f"{sku}: {quantity} in stock, on try {ctx.attempt + 1}")
    return {"sku": sku, "quantity": quantity}


@client.create_function(id="on-push", name="Log pushes", trigger="github/push")
async def on_push(ctx: Context) -> dict[str, int]:
    repository, commits = ctx.event.data["repository"], ctx.event.data["commits"]
    titles = [f"{commit['id'][:7]} {commit['message'].splitlines()[0]}" for commit in commits]
    say("on-push", f"{repository['full_name']}: {'; '.join(titles) or 'no commits'}")
    return {"commits": len(commits)}


@client.create_function(id="audit", name="Audit orders", trigger="order/*")
def audit(ctx: SyncContext) -> None:
    """Plain functions do as well."""
    say("audit", f"{ctx.event.name} {ctx.event.id} in run {ctx.run_id}")
