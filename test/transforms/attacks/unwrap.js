/*
{
  "attack": "closes the function that the code is wrapped in",
  "expect": {
    "error": "transform_failed",
    "message": "SyntaxError"
  }
}
*/
}); globalThis.kept = 1; (function () {
function transform() { return {} }
