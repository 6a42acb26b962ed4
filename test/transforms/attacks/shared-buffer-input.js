/*
{
  "attack": "passes shared and detached memory to the web API",
  "expect": {
    "event": {
      "same": true,
      "detached": "TypeError",
      "clone": "ArrayBuffer"
    }
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  const shared = new Uint8Array(new SharedArrayBuffer(3)).fill(97);
  const hex = (data) => crypto.createHash('md5').update(data).digest('hex');
  const buffer = new ArrayBuffer(8);
  const bytes = new Uint8Array(buffer);
  buffer.transfer();
  return { same: hex(shared) === hex('aaa') && new TextDecoder().decode(shared) === 'aaa', detached: (() => { try { return hex(bytes) } catch (error) { return error.name } })(), clone: structuredClone(shared).buffer.constructor.name };
}
