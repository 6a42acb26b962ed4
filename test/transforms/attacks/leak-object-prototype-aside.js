/*
{
  "attack": "pollutes Object.prototype where no word tells of it",
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
  const above = Object.getPrototypeOf({});
  const seen = {}.polluted ?? null;
  above.polluted = evt.n;
  return { seen }
}
