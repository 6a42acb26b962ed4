/*
{
  "attack": "passes symbols, proxies and objects without a prototype to the web API",
  "expect": {
    "event": {
      "refused": 8
    }
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  let refused = 0;
  const bare = Object.create(null);
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  for (const way of [() => new URL(Symbol()), () => new URL(bare), () => crypto.createHash(Symbol()), () => crypto.createHash('md5').update(revoked.proxy), () => atob(Symbol()), () => new URLSearchParams([[Symbol(), 1]]), () => structuredClone(Symbol()), () => new TextDecoder().decode(bare)]) {
    try { way() } catch (error) { if (error instanceof Error) refused++ }
  }
  return { refused };
}
