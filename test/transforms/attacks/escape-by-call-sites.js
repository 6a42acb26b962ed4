/*
{
  "attack": "looks for the host in the frames of a stack",
  "expect": {
    "event": {
      "stack": "string"
    }
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  Error.prepareStackTrace = (error, sites) => sites.map((site) => typeof site.getThis());
  const { stack } = new Error("x");
  return { stack: typeof stack }
}
