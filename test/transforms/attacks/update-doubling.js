/*
{
  "attack": "updates a hash with itself grown twice as long",
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
  let text = 'x';
  for (;;) { crypto.createHash('md5').update(text += text).digest('hex') }
}
