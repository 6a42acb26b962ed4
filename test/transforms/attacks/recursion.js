/*
{
  "attack": "overflows the stack",
  "expect": {
    "error": "transform_failed",
    "message": "RangeError: Maximum call stack size exceeded"
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  return transform()
}
