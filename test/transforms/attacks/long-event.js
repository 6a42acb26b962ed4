/*
{
  "attack": "returns 5 MB",
  "expect": {
    "error": "transform_failed",
    "message": "characters of JSON; at most"
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  return { x: "y".repeat(5e6) }
}
