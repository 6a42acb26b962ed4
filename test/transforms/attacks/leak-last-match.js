/*
{
  "attack": "reads what the last request matched",
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
  const seen = RegExp.$1 || null;
  /(\d)/.exec(String(evt.n));
  return { seen }
}
