/*
{
  "attack": "has code run after its result, during the next request",
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
  const seen = globalThis.late ?? null;
  Promise.resolve().then(() => Promise.resolve()).then(() => { globalThis.late = evt.n });
  return { seen }
}
