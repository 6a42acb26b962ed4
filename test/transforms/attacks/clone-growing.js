/*
{
  "attack": "clones a map that grows while it is cloned",
  "expect": {
    "event": {
      "size": 1
    }
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  const map = new Map();
  map.set('a', { get b() { map.set(map.size, 1); return 1 } });
  return { size: structuredClone(map).size };
}
