/*
{
  "attack": "makes the host work for small hashes without an end",
  "expect": {
    "error": "transform_failed",
    "message": "ran longer than"
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  for (;;) try { crypto.createHash('md5').update('x').digest('hex') } catch {} finally { crypto.randomUUID() }
}
