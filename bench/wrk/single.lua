-- One event of some 200 bytes a request.
wrk.method = "POST"
wrk.headers["content-type"] = "application/json"
wrk.body = '{"name":"bench/single","data":{"orderId":"A-1001","total":120.5,"currency":"EUR","items":[{"sku":"tea-1","n":2},{"sku":"cup-7","n":1}],"customer":{"id":"c-77","email":"someone@example.com"}}}'
