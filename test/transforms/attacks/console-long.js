/*
{
  "attack": "writes 100 MB in one line",
  "expect": {
    "any_of": [
      {
        "event": {
          "fine": true
        }
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
      }
    ]
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  console.log("x".repeat(2e7));
  return { fine: true }
}
