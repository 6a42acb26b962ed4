/*
{
  "attack": "fills memory before the function is defined",
  "expect": {
    "any_of": [
      {
        "error": "transform_failed",
        "message": "used too much memory"
      },
      {
        "error": "transform_failed",
        "message": "ran longer than"
      }
    ]
  }
}
*/
const all = []; for (;;) all.push(new Array(1e5).fill(1));
function transform() {}
