/*
{
  "attack": "counts in a variable around the function",
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
        "uses": 1
      }
    },
    {
      "event": {
        "uses": 1
      }
    }
  ]
}
*/
let uses = 0;
function transform() { uses += 1; return { uses } }
