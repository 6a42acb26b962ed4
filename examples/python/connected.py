from tidegate import Context, Tidegate
from tidegate.connect import run

client = Tidegate("shop")


@client.create_function(id="send-receipt", trigger="order/paid")
async def send_receipt(ctx: Context) -> str:
    return await ctx.step.run("write receipt", lambda: f"Receipt for order {ctx.event.data['orderId']}")


if __name__ == "__main__":
    run(client, [send_receipt])  # until SIGTERM or SIGINT, upon which it finishes its calls
