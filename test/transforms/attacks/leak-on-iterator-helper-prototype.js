/*
{
  "attack": "keeps a secret on the prototype of iterator helpers",
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
  const place = Object.getPrototypeOf([].values().map((x) => x));
  const seen = place.leak ?? null;
  place.leak = evt.n;
  return { seen }
}
