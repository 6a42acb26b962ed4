/*
{
  "attack": "writes 100,000 lines to its console",
  "expect": {
    "event": {
      "fine": true
    }
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  for (let i = 0; i < 1e5; i++) console.log("line", i);
  return { fine: true }
}
