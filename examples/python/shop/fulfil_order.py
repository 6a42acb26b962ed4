import asyncio
from typing import Any

from tidegate import Context, Event, FailureContext

from .client import client, say


async def ask_for_help(ctx: FailureContext) -> None:
    order = ctx.event.data["event"]["data"]
    say("fulfil-order", f"order {order['orderId']} needs help: {ctx.error}")


@client.create_function(id="fulfil-order", name="Fulfil order", trigger="order/placed", on_failure=ask_for_help)
async def fulfil_order(ctx: Context) -> dict[str, Any]:
    """Lives as long as the order does: what it waits for may come in a second or in three days, and deploys do not
    matter."""
    order, step = ctx.event.data, ctx.step
    order_id, customer, lines = order["orderId"], order["customer"], order["lines"]

    def pack() -> dict[str, Any]:
        say("fulfil-order", f"order {order_id}: packed")
        return {"number": f"P-{order_id}", "pieces": sum(line["quantity"] for line in lines)}

    paid = await step.wait_for_event(
        "payment",
        event="order/paid",
        timeout="3d",
        if_="event.data.orderId == async.data.orderId",
    )
    if paid is None:
        return {"orderId": order_id, "status": "never paid"}
    parcel, _ = await asyncio.gather(
        step.run("pack", pack),
        step.run("book courier", say, "fulfil-order", f"order {order_id}: courier booked"),
    )
    sold = [Event(name="stock/changed", data={"sku": line["sku"], "quantity": -line["quantity"]}) for line in lines]
    await step.send_event("tell the warehouse", sold)
    await step.sleep("on its way", "2s")
    await step.run("ask for a review", say, "fulfil-order", f"{customer}: how was parcel {parcel['number']}?")
    return {"orderId": order_id, "status": "delivered", "parcel": parcel}
