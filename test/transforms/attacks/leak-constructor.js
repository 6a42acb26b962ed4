/*
{
  "attack": "replaces built-ins by assignment",
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
        "types": [
          "function",
          "function",
          "function",
          "function"
        ]
      }
    },
    {
      "event": {
        "types": [
          "function",
          "function",
          "function",
          "function"
        ]
      }
    }
  ]
}
*/
function transform(evt, headers, queryParams, raw) {
  Promise = Error = String = Map = undefined;
  return { types: [typeof Promise, typeof Error, typeof String, typeof Map] }
}
