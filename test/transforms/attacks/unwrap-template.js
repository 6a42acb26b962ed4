/*
{
  "attack": "ends in a template that is not closed",
  "expect": {
    "error": "transform_failed",
    "message": "SyntaxError"
  }
}
*/
function transform() { return {} } `
