/*
{
  "attack": "replaces functions of the web API for the next request",
  "requests": [
    {},
    {}
  ],
  "expect": [
    {
      "event": {
        "kept": true
      }
    },
    {
      "event": {
        "kept": true
      }
    }
  ]
}
*/
function transform(evt, headers, queryParams, raw) {
  const kept = new URL('https://a.b/c').href === 'https://a.b/c' && crypto.createHash('md5').update('').digest('hex') === 'd41d8cd98f00b204e9800998ecf8427e' && atob('YQ==') === 'a';
  try { URL = crypto = atob = null } catch {}
  try { crypto.createHash = () => null } catch {}
  try { URL.parse = crypto.createHash('md5').constructor.prototype.digest = () => 'forged' } catch {}
  try { delete globalThis.URL; delete crypto.createHash; } catch {}
  return { kept };
}
