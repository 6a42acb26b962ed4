/*
{
  "attack": "keeps a secret of one request in the global object",
  "requests": [
    {
      "body": {
        "n": 1
      }
    },
    {
      "body": {
        "n": 2
      }
    }
  ],
  "expect": [
    {
      "event": {
        "seen": null
      }
    },
    {
      "event": {
        "seen": null
      }
    }
  ]
}
*/
function transform(evt, headers, queryParams, raw) {
  const seen = globalThis.leak ?? null;
  globalThis.leak = evt.n;
  return { seen }
}
