/*
{
  "attack": "replaces the methods that the web API could call, to see the function of the host",
  "expect": {
    "event": {
      "seen": []
    }
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  const seen = [];
  const real = { call: Function.prototype.call, apply: Function.prototype.apply, bind: Function.prototype.bind, iterator: Array.prototype[Symbol.iterator] };
  const note = (one) => { if (typeof one === 'function' && one.name === '' && /native code/.test(String(one))) seen.push('host') };
  Function.prototype.call = function (...all) { note(this); return Reflect.apply(real.call, this, all) };
  Function.prototype.apply = function (...all) { note(this); return Reflect.apply(real.apply, this, all) };
  Array.prototype[Symbol.iterator] = function () { for (let i = 0; i < this.length; i++) note(this[i]); return Reflect.apply(real.iterator, this, []) };
  String.prototype.slice = function () { return { toString: () => 'x', length: 1 } };
  try { crypto.createHash('md5').update('x'.repeat(300000)).digest('hex') } catch {}
  try { crypto.createHash('md5').update('x').digest('hex') } catch {}
  try { new URL('https://example.com/').searchParams.append('a', 'b') } catch {}
  try { crypto.randomUUID() } catch {}
  return { seen };
}
