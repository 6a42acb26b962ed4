/*
{
  "attack": "returns a list too long for a report",
  "expect": {
    "error": "transform_failed",
    "message": "characters of JSON"
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  return Array(100).fill({ name: 'a', data: { text: 'x'.repeat(50000) } });
}
