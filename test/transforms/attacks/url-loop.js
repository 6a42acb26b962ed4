/*
{
  "attack": "makes the host parse the most expensive URLs without an end",
  "expect": {
    "error": "transform_failed",
    "message": "ran longer than"
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  const url = 'https://' + '\u0323\u0301'.repeat(1000) + '.com';
  for (;;) URL.canParse(url);
}
