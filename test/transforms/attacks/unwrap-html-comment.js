/*
{
  "attack": "ends in a comment of HTML",
  "expect": {
    "event": {
      "fine": true
    }
  }
}
*/
function transform() { return { fine: true } }
<!-- */ }
