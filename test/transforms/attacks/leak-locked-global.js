/*
{
  "attack": "keeps a secret in a global that cannot be deleted",
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
  Reflect["define" + "Property"](globalThis, "leak", { value: evt.n });
  return { seen }
}
