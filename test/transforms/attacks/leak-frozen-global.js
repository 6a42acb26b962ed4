/*
{
  "attack": "freezes the global object, so that the next request cannot use it",
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
        "seen": 1
      }
    },
    {
      "event": {
        "seen": 2
      }
    }
  ]
}
*/
function transform(evt, headers, queryParams, raw) {
  globalThis.mine = evt.n;
  const seen = mine;
  Object.freeze(globalThis);
  return { seen }
}
