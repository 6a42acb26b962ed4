/*
{
  "attack": "makes the host work without an end, between promises",
  "expect": {
    "error": "transform_failed",
    "message": "ran longer than"
  }
}
*/
async function transform() {
  for (;;) { await null; crypto.createHash('sha256').update('x'.repeat(100000)).digest() }
}
