/*
{
  "attack": "keeps a secret on Symbol.iterator's home",
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
  const place = Symbol;
  const seen = place.leak ?? null;
  place.leak = evt.n;
  return { seen }
}
