/*
{
  "attack": "has JSON forged by a toJSON on Object.prototype",
  "expect": {
    "event": {
      "fine": true
    }
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  Object.getPrototypeOf({}).toJSON = () => ({ forged: true });
  return { fine: true }
}
