/*
{
  "attack": "loops before the function is defined",
  "expect": {
    "error": "transform_failed",
    "message": "ran longer than"
  }
}
*/
function transform() { return null }
for (;;);
