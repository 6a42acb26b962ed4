/*
{
  "attack": "pollutes Object.prototype",
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
  const seen = {}.polluted ?? null;
  Object.prototype.polluted = evt.n;
  return { seen }
}
