/*
{
  "attack": "returns an object whose toJSON loops",
  "expect": {
    "error": "transform_failed",
    "message": "ran longer than"
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  return { toJSON() { while (true); } }
}
