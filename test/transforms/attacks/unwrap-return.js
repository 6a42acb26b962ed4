/*
{
  "attack": "returns a function instead of defining one",
  "expect": {
    "error": "transform_failed",
    "message": "SyntaxError"
  }
}
*/
return () => ({ forged: true })
