/*
{
  "attack": "sends fields with the names of built-ins, which are copied",
  "requests": [
    {
      "body": {
        "constructor": 1,
        "toString": 2,
        "valueOf": 3,
        "hasOwnProperty": 4
      }
    }
  ],
  "expect": {
    "event": {
      "constructor": 1,
      "toString": 2,
      "valueOf": 3,
      "hasOwnProperty": 4
    }
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  const copy = {};
  for (const key of Object.keys(evt)) copy[key] = evt[key];
  return copy
}
