/*
{
  "attack": "adds to built-ins what it uses itself",
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
        "last": 3
      }
    },
    {
      "event": {
        "last": 3
      }
    }
  ]
}
*/
Array.prototype.last = function () { return this[this.length - 1] };
function transform() { return { last: [1, 2, 3].last() } }
