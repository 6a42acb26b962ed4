/*
{
  "attack": "fills memory with buffers",
  "expect": {
    "any_of": [
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
        "message": "RangeError: Array buffer allocation failed"
      }
    ]
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  const all = []; for (;;) all.push(new Uint8Array(1e6).fill(1))
}
