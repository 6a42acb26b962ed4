/*
{
  "attack": "returns a list that is something else as JSON",
  "expect": {
    "error": "transform_failed",
    "message": "not an object in JSON"
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  return Object.assign([1], { toJSON: () => 'text' });
}
