/*
{
  "attack": "imports a module",
  "expect": {
    "error": "transform_failed",
    "message": "Not supported"
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  return import("node:fs").then((fs) => ({ out: typeof fs.readFileSync }))
}
