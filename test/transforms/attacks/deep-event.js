/*
{
  "attack": "returns objects nested 100,000 deep",
  "expect": {
    "error": "transform_failed",
    "message": "RangeError"
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  let event = {};
  for (let i = 0; i < 1e5; i++) event = { event };
  return event
}
