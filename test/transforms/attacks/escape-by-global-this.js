/*
{
  "attack": "looks for the process through global-this",
  "expect": {
    "event": {
      "out": false
    }
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  try { Reflect.construct(globalThis.constructor.constructor, ["return process"])().mainModule; return { out: true } } catch { return { out: false } }
}
