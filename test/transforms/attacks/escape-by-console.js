/*
{
  "attack": "looks for the process through console",
  "expect": {
    "event": {
      "out": false
    }
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  try { console.log.constructor("return process")(); return { out: true } } catch { return { out: false } }
}
