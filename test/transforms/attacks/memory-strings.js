/*
{
  "attack": "fills memory with one string in pieces",
  "expect": {
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
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  return { n: "x".repeat(5e8).split("").length }
}
