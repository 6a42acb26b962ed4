/*
{
  "attack": "keeps a secret on the getter of a built-in",
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
  const place = Object.getOwnPropertyDescriptor(Map.prototype, "size").get;
  const seen = place.leak ?? null;
  place.leak = evt.n;
  return { seen }
}
