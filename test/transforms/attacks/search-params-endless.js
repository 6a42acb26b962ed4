/*
{
  "attack": "reads pairs for URLSearchParams without an end",
  "expect": {
    "any_of": [
      {
        "error": "transform_failed",
        "message": "ran longer than"
      },
      {
        "error": "transform_failed",
        "message": "memory"
      }
    ]
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  return new URLSearchParams((function* () { for (;;) yield ['a', 'b'] })());
}
