/*
{
  "attack": "keeps a secret in the global object under a symbol",
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
  const key = Symbol.for("leak");
  const seen = globalThis[key] ?? null;
  globalThis[key] = evt.n;
  return { seen }
}
