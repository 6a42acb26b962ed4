/*
{
  "attack": "throws an error with a name of 2 MB",
  "expect": {
    "error": "transform_failed",
    "message": "xxx"
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  const error = new Error("short");
  error.name = "x".repeat(2e6);
  throw error
}
