/*
{
  "attack": "throws an error whose stack cannot be read",
  "expect": {
    "error": "transform_failed",
    "message": ""
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  const error = new Error("x");
  Object.defineProperty(error, "stack", { get() { throw error } });
  throw error
}
