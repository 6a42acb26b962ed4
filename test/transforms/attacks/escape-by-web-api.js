/*
{
  "attack": "looks for the process through the constructor of every object of the web API",
  "expect": {
    "event": {
      "found": []
    }
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  const hash = crypto.createHash('md5');
  const url = new URL('https://example.com/?a=1');
  let dom;
  try { atob('?') } catch (error) { dom = error; }
  const given = [
    crypto, crypto.createHash, crypto.createHmac, crypto.randomUUID, crypto.timingSafeEqual, hash, hash.update, hash.digest, hash.digest(),
    URL, URL.parse, URL.canParse, url, url.toString, url.searchParams, url.searchParams.entries(), URLSearchParams,
    Object.getOwnPropertyDescriptor(URL.prototype, 'href').get, Object.getOwnPropertyDescriptor(URL.prototype, 'href').set,
    TextEncoder, TextDecoder, new TextEncoder(), new TextDecoder(), new TextEncoder().encode('a'), atob, btoa, dom, DOMException,
    structuredClone, structuredClone({ a: [new Map()] }), Uint8Array.fromHex, new Uint8Array(1).toBase64
  ];
  const found = given.filter((one) => {
    try { return one.constructor.constructor('return typeof process + typeof require')() !== 'undefinedundefined' } catch { return true }
  });
  return { found: found.map(String) };
}
