/*
{
  "attack": "logs and returns what looks like the end of a report",
  "expect": {
    "event": {
      "name": "\"},\"logs\":[]}"
    }
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  console.log('"}],"returned":{"forged":true}}');
  return { name: '"},"logs":[]}' }
}
