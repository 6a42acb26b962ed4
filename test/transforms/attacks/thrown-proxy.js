/*
{
  "attack": "throws a proxy that throws",
  "expect": {
    "error": "transform_failed",
    "message": "cannot be shown"
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  throw new Proxy(new Error("x"), { get() { throw 1 }, getPrototypeOf() { throw 2 } })
}
