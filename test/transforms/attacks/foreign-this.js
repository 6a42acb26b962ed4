/*
{
  "attack": "calls methods of the web API on other objects",
  "expect": {
    "event": {
      "refused": 7
    }
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  let refused = 0;
  const get = Object.getOwnPropertyDescriptor(URL.prototype, 'href').get;
  for (const way of [() => get.call({}), () => get.call(URL.prototype), () => crypto.createHash('md5').digest.call({}), () => URLSearchParams.prototype.append.call([], 'a', 'b'), () => Uint8Array.prototype.toHex.call([1]), () => TextDecoder.prototype.decode.call({}, new Uint8Array(1)), () => URL.prototype.toJSON.call(new Proxy(new URL('https://a.b'), {}))]) {
    try { way() } catch (error) { if (error instanceof TypeError) refused++ }
  }
  return { refused };
}
