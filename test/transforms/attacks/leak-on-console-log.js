/*
{
  "attack": "keeps a secret on console.log",
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
  const place = console.log;
  const seen = place.leak ?? null;
  place.leak = evt.n;
  return { seen }
}
