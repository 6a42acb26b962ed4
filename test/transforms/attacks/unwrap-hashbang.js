/*
{
  "attack": "begins with a hashbang, which a function cannot have within",
  "expect": {
    "any_of": [
      {
        "event": {
          "fine": true
        }
      },
      {
        "error": "transform_failed",
        "message": "SyntaxError"
      }
    ]
  }
}
*/
#!/usr/bin/env node
function transform() { return { fine: true } }
