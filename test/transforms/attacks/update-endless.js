/*
{
  "attack": "updates one hash without an end",
  "expect": {
    "any_of": [
      {
        "error": "transform_failed",
        "message": "ran longer than"
      },
      {
        "error": "transform_failed",
        "message": "memory"
      },
      {
        "error": "transform_failed",
        "message": "Invalid string length"
      }
    ]
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  const hash = crypto.createHash('md5');
  for (let i = 0; ; i++) hash.update('some text ' + i);
}
