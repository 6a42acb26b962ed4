/*
{
  "attack": "throws an error of 2 MB",
  "expect": {
    "error": "transform_failed",
    "message": "xxx"
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  throw new Error("x".repeat(2e6))
}
