/*
{
  "attack": "hashes something else while a hash is being made",
  "expect": {
    "event": {
      "same": true
    }
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  const long = 'x'.repeat(300000);
  const wanted = crypto.createHash('sha256').update(long).digest('hex');
  const encoding = { toString() { crypto.createHash('md5').update('other'.repeat(50000)).digest('hex'); return 'hex' } };
  return { same: crypto.createHash('sha256').update(long).digest(encoding) === wanted };
}
