/*
{
  "attack": "returns a thenable that never settles",
  "expect": {
    "error": "transform_failed",
    "message": "ran longer than"
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  return { then() {} }
}
