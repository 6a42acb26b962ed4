-- A provider's request of some 150 bytes.
wrk.method = "POST"
wrk.headers["content-type"] = "application/json"
wrk.headers["x-kind"] = "hook"
wrk.body = '{"action":"opened","number":7,"repository":{"full_name":"ada/shop"},"sender":{"login":"ada","id":77},"labels":["tea","cups"]}'
