/*
{
  "attack": "puts a hook into the stacks of later errors",
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
        "seen": 10,
        "hooked": "undefined"
      }
    },
    {
      "event": {
        "seen": 10,
        "hooked": "undefined"
      }
    }
  ]
}
*/
function transform(evt, headers, queryParams, raw) {
  const seen = Error.stackTraceLimit;
  Error.stackTraceLimit = 1;
  Error.prepareStackTrace = () => "hooked";
  return { seen, hooked: typeof Error.prepareStackTrace }
}
