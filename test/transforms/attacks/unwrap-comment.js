/*
{
  "attack": "ends in a comment that swallows what follows",
  "expect": {
    "event": {
      "fine": true
    }
  }
}
*/
function transform() { return { fine: true } } //
