/*
{
  "attack": "reads the functions of the web API on its stack, with built-ins that it may change",
  "expect": {
    "event": {
      "found": []
    }
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  Array.prototype.changed = 1;
const found = [];
  const look = () => {
    const before = Error.prepareStackTrace;
    try {
      Error.prepareStackTrace = (error, sites) => sites;
      const sites = new Error().stack;
      if (Array.isArray(sites)) for (const site of sites) {
        const one = site.getFunction();
        if (one && !['look', 'transform', 'toString', 'call', 'get'].includes(one.name)) found.push(one.name);
        let given = [];
      try { given = one.arguments ?? [] } catch {}
      for (const argument of given) if (typeof argument === 'function' && /native/.test(String(argument))) found.push('argument of ' + one.name);
      }
    } finally { Error.prepareStackTrace = before }
    try { for (let one = look.caller; one; one = one.caller) found.push(one.name) } catch {}
    return 'md5';
  };
  const spy = { toString: look };
  crypto.createHash(spy).digest('hex');
  try { new URL(spy) } catch {}
  try { new URLSearchParams([[spy, spy]]).get(spy) } catch {}
  try { atob(spy) } catch {}
  try { structuredClone({ get a() { return look() } }) } catch {}
  return { found: found.filter((name) => !['transform', 'call', 'get a', ''].includes(name)) };
}
