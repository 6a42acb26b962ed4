/*
{
  "attack": "throws an error of 2 MB before the function is defined",
  "expect": {
    "error": "transform_failed",
    "message": "xxx"
  }
}
*/
throw new Error("x".repeat(2e6));
