/*
{
  "attack": "throws an error with a stack of 2 MB",
  "expect": {
    "error": "transform_failed",
    "message": "short"
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  const error = new Error("short");
  error.stack = "x\n    at y".repeat(2e5);
  throw error
}
