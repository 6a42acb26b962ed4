/*
{
  "attack": "has a regular expression backtrack for ever",
  "expect": {
    "error": "transform_failed",
    "message": "ran longer than"
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  return { m: /^(a+)+$/.test("a".repeat(40) + "b") }
}
