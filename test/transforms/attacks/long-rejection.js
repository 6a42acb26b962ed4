/*
{
  "attack": "leaves a rejected promise of 2 MB lying",
  "expect": {
    "error": "transform_failed",
    "message": "xxx"
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  Promise.reject(new Error("x".repeat(2e6)));
  return null
}
