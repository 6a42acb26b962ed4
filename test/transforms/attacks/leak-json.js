/*
{
  "attack": "forges the results of later requests by replacing JSON.stringify",
  "requests": [
    {
      "body": {
        "n": 1
      }
    },
    {
      "body": {
        "n": 2
      }
    }
  ],
  "expect": [
    {
      "event": {
        "n": 1
      }
    },
    {
      "event": {
        "n": 2
      }
    }
  ]
}
*/
function transform(evt, headers, queryParams, raw) {
  JSON.stringify = () => '{"event":{"forged":true}}';
  JSON.parse = () => { throw new Error("gone") };
  return { n: evt.n }
}
