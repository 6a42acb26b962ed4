/*
{
  "attack": "gives methods to a class of its own the old way",
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
        "n": 2
      }
    },
    {
      "event": {
        "n": 4
      }
    }
  ]
}
*/
function Order(n) { this.n = n }
Order.prototype.double = function () { return 2 * this.n };
function transform(evt) { return { n: new Order(evt.n).double() } }
