/*
{
  "attack": "makes the web API pass other things than text to the host",
  "expect": {
    "event": {
      "odd": []
    }
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  const odd = [];
  String.prototype.toWellFormed = function () { return { evil: true } };
  String.prototype.toLowerCase = () => ({ replace: () => ({ evil: true }) });
  String.prototype.slice = () => Symbol('evil');
  Array.prototype.includes = () => true;
  for (const way of [() => crypto.createHash('md5').update('a').digest('hex'), () => crypto.createHmac('md5', 'a').digest(), () => new URL('https://a.b').href]) {
    try { odd.push(...(typeof way() === 'string' ? [] : ['not text'])) } catch (error) {
      if (!(error instanceof Error) || /node:|file:|isolated-vm|\.ts/.test(String(error.stack))) odd.push(String(error.stack));
    }
  }
  return { odd };
}
