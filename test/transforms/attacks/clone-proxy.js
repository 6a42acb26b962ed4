/*
{
  "attack": "clones a proxy that is nested without end",
  "expect": {
    "any_of": [
      {
        "error": "transform_failed",
        "message": "ran longer than"
      },
      {
        "error": "transform_failed",
        "message": "call stack"
      },
      {
        "error": "transform_failed",
        "message": "memory"
      }
    ]
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  const endless = new Proxy({}, { ownKeys: () => ['a'], getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }), get: () => endless2() });
  const endless2 = () => new Proxy({}, { ownKeys: () => ['a'], getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }), get: () => endless2() });
  return structuredClone(endless);
}
