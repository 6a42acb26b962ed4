/*
{
  "attack": "ends in a comment that is not closed",
  "expect": {
    "error": "transform_failed",
    "message": "SyntaxError"
  }
}
*/
function transform() { return {} } /*
