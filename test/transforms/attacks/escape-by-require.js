/*
{
  "attack": "looks for the process through require",
  "expect": {
    "event": {
      "out": false
    }
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  try { new Function("return require")()("node:fs"); return { out: true } } catch { return { out: false } }
}
