/*
{
  "attack": "evaluates code of its body",
  "requests": [
    {
      "body": {
        "code": "typeof process"
      }
    }
  ],
  "expect": {
    "event": {
      "value": "undefined"
    }
  }
}
*/
const transform = (evt) => ({ value: String(new Function('return ' + evt.code)()) });
