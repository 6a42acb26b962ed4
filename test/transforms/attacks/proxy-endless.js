/*
{
  "attack": "returns a proxy that has keys without end",
  "expect": {
    "any_of": [
      {
        "error": "transform_failed",
        "message": "ran longer than"
      },
      {
        "error": "transform_failed",
        "message": "not JSON"
      },
      {
        "error": "transform_failed",
        "message": "RangeError"
      }
    ]
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  const endless = new Proxy({}, { get: () => endless, ownKeys: () => ["a"], getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }) });
  return endless
}
