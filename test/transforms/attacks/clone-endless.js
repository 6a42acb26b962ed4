/*
{
  "attack": "clones an object whose getter makes the next one",
  "expect": {
    "any_of": [
      {
        "error": "transform_failed",
        "message": "ran longer than"
      },
      {
        "error": "transform_failed",
        "message": "call stack"
      },
      {
        "error": "transform_failed",
        "message": "memory"
      }
    ]
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  const next = () => ({ get next() { return next() } });
  return structuredClone(next());
}
