/*
{
  "attack": "makes V8 end the process",
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
  return { n: Array(1e9).fill(0).length }
}
