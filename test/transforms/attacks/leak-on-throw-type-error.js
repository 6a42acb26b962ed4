/*
{
  "attack": "keeps a secret on the function behind arguments.callee",
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
  const place = Object.getOwnPropertyDescriptor((function () { "use strict"; return arguments })(), "callee").get;
  const seen = place.leak ?? null;
  place.leak = evt.n;
  return { seen }
}
