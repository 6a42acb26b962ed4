/*
{
  "attack": "hashes 4 MiB again and again, while the host works for it",
  "expect": {
    "error": "transform_failed",
    "message": "ran longer than"
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  const long = 'x'.repeat(4 * 1048576);
  for (;;) crypto.createHash('sha512').update(long).digest('hex');
}
