/*
{
  "attack": "throws a text of 2 MB",
  "expect": {
    "error": "transform_failed",
    "message": "xxx"
  }
}
*/
throw "x".repeat(2e6);
