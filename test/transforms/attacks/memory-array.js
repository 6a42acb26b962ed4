/*
{
  "attack": "fills memory with objects",
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
  const map = new Map(); for (let i = 0; ; i++) map.set(i, { i })
}
