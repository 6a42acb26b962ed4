/*
{
  "attack": "looks for the process through this",
  "expect": {
    "event": {
      "out": false
    }
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  try { this.constructor.constructor("return process")(); return { out: true } } catch { return { out: false } }
}
