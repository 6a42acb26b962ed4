/*
{
  "attack": "keeps a secret on the prototype of async functions",
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
  const place = Object.getPrototypeOf(async () => {});
  const seen = place.leak ?? null;
  place.leak = evt.n;
  return { seen }
}
