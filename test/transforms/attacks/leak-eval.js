/*
{
  "attack": "declares a global by an indirect eval",
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
  const seen = typeof kept === "undefined" ? null : kept;
  (0, eval)("var kept = " + evt.n);
  return { seen }
}
