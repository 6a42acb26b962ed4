/*
{
  "attack": "pollutes prototypes by a merge of a hostile body",
  "requests": [
    {
      "raw": "{\"__proto__\":{\"polluted\":1},\"constructor\":{\"prototype\":{\"polluted\":1}}}"
    },
    {
      "raw": "{}"
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
  const merge = (to, from) => { for (const key of Object.keys(from)) typeof from[key] === "object" ? merge(to[key] ??= {}, from[key]) : (to[key] = from[key]) };
  const seen = {}.polluted ?? null;
  merge({}, evt);
  return { seen }
}
