/*
{
  "attack": "looks for the process through error",
  "expect": {
    "event": {
      "out": false
    }
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  try { (() => { try { null.x } catch (e) { return e.constructor.constructor("return process")() } })(); return { out: true } } catch { return { out: false } }
}
