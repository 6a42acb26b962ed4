-- A hundred such events a request.
local event = '{"name":"bench/batch","data":{"orderId":"A-1001","total":120.5,"currency":"EUR","items":[{"sku":"tea-1","n":2},{"sku":"cup-7","n":1}],"customer":{"id":"c-77","email":"someone@example.com"}}}'
local events = {}
for i = 1, 100 do events[i] = event end
wrk.method = "POST"
wrk.headers["content-type"] = "application/json"
wrk.body = "[" .. table.concat(events, ",") .. "]"
