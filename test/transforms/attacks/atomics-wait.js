/*
{
  "attack": "puts its thread to sleep",
  "expect": {
    "any_of": [
      {
        "error": "transform_failed",
        "message": "ran longer than"
      },
      {
        "error": "transform_failed",
        "message": "cannot be called in this context"
      }
    ]
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(8)), 0, 0);
  return null
}
