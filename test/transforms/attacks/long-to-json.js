/*
{
  "attack": "fails with 2 MB while its event is made JSON",
  "expect": {
    "error": "transform_failed",
    "message": "xxx"
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  return { toJSON() { throw new Error("x".repeat(2e6)) } }
}
