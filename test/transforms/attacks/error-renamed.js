/*
{
  "attack": "gives its error another name",
  "expect": {
    "error": "transform_failed",
    "message": "line 2: Mine: changed"
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  const error = new Error("no");
  error.name = "Mine";
  error.message = "changed";
  throw error
}
