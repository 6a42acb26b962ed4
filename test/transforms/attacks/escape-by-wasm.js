/*
{
  "attack": "looks for WebAssembly, whose memory is not counted",
  "expect": {
    "event": {
      "type": "undefined"
    }
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  return { type: typeof WebAssembly }
}
