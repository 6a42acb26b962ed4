from tidegate import Event, Tidegate

client = Tidegate(app_id="shop")

ids = client.send_sync(Event(name="order/paid", data={"orderId": "A1", "customer": "Ada", "total": 120}))
print(ids)
