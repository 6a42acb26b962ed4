/*
{
  "attack": "passes bytes that lie about their length, content and class",
  "expect": {
    "event": {
      "hex": "47bce5c74f589f4867dbd57e9ca9f808",
      "refused": 3
    }
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  class Liar extends Uint8Array { get length() { return 1e9 } get byteLength() { return 1e9 } get buffer() { return {} } subarray() { return [1e9] } static get [Symbol.species]() { throw new Error('read') } }
  let refused = 0;
  for (const fake of [{ length: 3, 0: 97 }, Object.create(Uint8Array.prototype), new Proxy(new Uint8Array(3), {})]) {
    try { crypto.createHash('md5').update(fake) } catch (error) { if (error instanceof TypeError) refused++ }
  }
  return { hex: crypto.createHash('md5').update(new Liar(3).fill(97)).digest('hex'), refused };
}
