/*
{
  "attack": "asks for a call when the garbage is collected",
  "expect": {
    "event": {
      "types": [
        "undefined",
        "undefined",
        "undefined"
      ]
    }
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  return { types: [typeof FinalizationRegistry, typeof WeakRef, typeof Atomics.waitAsync] }
}
