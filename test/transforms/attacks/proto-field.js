/*
{
  "attack": "returns a field named __proto__",
  "expect": {
    "event_text": "{\"__proto__\":{\"polluted\":1}}"
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  return JSON.parse('{"__proto__":{"polluted":1}}')
}
