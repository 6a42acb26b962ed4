/*
{
  "attack": "chains microtasks for ever",
  "expect": {
    "error": "transform_failed",
    "message": "ran longer than"
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  return (async () => { while (true) await null })()
}
