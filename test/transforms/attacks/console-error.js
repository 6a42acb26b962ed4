/*
{
  "attack": "writes 20 KB to its console and throws 2 MB",
  "expect": {
    "error": "transform_failed",
    "message": "xxx"
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  console.log("y".repeat(2e4));
  throw new Error("x".repeat(2e6))
}
