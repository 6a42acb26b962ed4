/*
{
  "attack": "computes a number of a billion digits",
  "expect": {
    "any_of": [
      {
        "error": "transform_failed",
        "message": "ran longer than"
      },
      {
        "any_of": [
          {
            "error": "transform_failed",
            "message": "used too much memory"
          },
          {
            "error": "transform_failed",
            "message": "ran longer than"
          }
        ]
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
  return { n: String(7n ** (7n ** 12n)) }
}
