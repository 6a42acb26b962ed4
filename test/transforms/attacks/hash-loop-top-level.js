/*
{
  "attack": "makes the host work without an end, outside its function",
  "expect": {
    "error": "transform_failed",
    "message": "ran longer than"
  }
}
*/
for (;;) crypto.randomUUID();
function transform() {}
