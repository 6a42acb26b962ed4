/*
{
  "attack": "returns a list whose entries change while they are read",
  "expect": {
    "event": [
      {
        "n": 1
      },
      {
        "n": 2
      }
    ]
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  let n = 0;
  return [{ get n() { return ++n } }, { get n() { return ++n } }];
}
