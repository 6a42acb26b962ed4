/*
{
  "attack": "looks for the process through arguments",
  "expect": {
    "event": {
      "out": false
    }
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  try { arguments.callee.caller.constructor("return process")(); return { out: true } } catch { return { out: false } }
}
