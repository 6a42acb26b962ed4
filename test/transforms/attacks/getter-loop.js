/*
{
  "attack": "returns an object whose getter loops",
  "expect": {
    "error": "transform_failed",
    "message": "ran longer than"
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  return { get name() { while (true); } }
}
