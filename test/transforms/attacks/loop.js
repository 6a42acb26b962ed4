/*
{
  "attack": "loops for ever",
  "expect": {
    "error": "transform_failed",
    "message": "ran longer than"
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  while (true);
}
