/*
{
  "attack": "looks for the host in the errors that the web API throws",
  "expect": {
    "event": {
      "found": []
    }
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  const ways = [
    () => crypto.createHash('none'), () => crypto.createHmac('md5'), () => crypto.createHash('md5').update({}), () => crypto.createHash('md5').digest('none'),
    () => crypto.timingSafeEqual('x'.repeat(2e5), 'x'), () => crypto.createHmac('md5', 'x'.repeat(2e5)), () => new URL('x'.repeat(1e6)), () => new URL('no'),
    () => { new URL('https://a.b').href = 'no' }, () => { new URL('https://a.b').search = 'x'.repeat(1e6) }, () => atob('*'), () => btoa('€'),
    () => structuredClone(() => 1), () => new TextDecoder('latin1'), () => Uint8Array.fromHex('x'), () => URL.prototype.href, () => new URLSearchParams([1]),
  ];
  const found = [];
  for (const way of ways) {
    try { way(); found.push('no error: ' + way) } catch (error) {
      const own = error instanceof Error && error.constructor.constructor('return this')() === globalThis;
      const text = String(error.stack) + error.message + Object.getOwnPropertyNames(error).map((key) => error[key]).join();
      if (!own || /node:|file:|isolated-vm|host-calls|\.ts/.test(text)) found.push(text);
    }
  }
  return { found };
}
