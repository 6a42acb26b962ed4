/*
{
  "attack": "keeps a secret in a name that was not declared",
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
  const seen = typeof leaked === "undefined" ? null : leaked;
  leaked = evt.n;
  return { seen }
}
