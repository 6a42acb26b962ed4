/*
{
  "attack": "overflows the stack again wherever it is caught",
  "expect": {
    "any_of": [
      {
        "error": "transform_failed",
        "message": "ran longer than"
      },
      {
        "error": "transform_failed",
        "message": "RangeError"
      }
    ]
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  try { return transform() } catch { return transform() }
}
