/*
{
  "attack": "leaves data in a hash of the host for the next request",
  "requests": [
    {},
    {}
  ],
  "expect": [
    {
      "event": {
        "hex": "d41d8cd98f00b204e9800998ecf8427e"
      }
    },
    {
      "event": {
        "hex": "d41d8cd98f00b204e9800998ecf8427e"
      }
    }
  ]
}
*/
function transform(evt, headers, queryParams, raw) {
  const made = crypto.createHash('md5').digest('hex');
  crypto.createHash('md5').update('secret');
  try { crypto.createHash('md5').update('x'.repeat(200000)).digest('none') } catch {}
  return { hex: made };
}
