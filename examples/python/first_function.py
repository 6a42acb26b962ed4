import uvicorn
from fastapi import FastAPI

from tidegate import Context, EventTrigger, Tidegate
from tidegate.fastapi import serve

client = Tidegate(app_id="shop")
app = FastAPI()


@client.create_function(id="send-receipt", trigger=EventTrigger("order/paid", if_="event.data.total > 10"))
async def send_receipt(ctx: Context) -> dict[str, str]:
    order = ctx.event.data
    receipt = await ctx.step.run("write receipt", lambda: f"Receipt for order {order['orderId']}")
    await ctx.step.sleep("let it dry", "1s")
    return {"sent": receipt}


serve(app, client, [send_receipt], path="/api/service")

if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=3000)
