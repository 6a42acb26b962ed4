/*
{
  "attack": "calls the web API where the stack ends, to get an error of the host",
  "expect": {
    "event": {
      "found": [],
      "some": true
    }
  }
}
*/
function transform(evt, headers, queryParams, raw) {
  const found = new Set();
  let errors = 0;
  for (const way of [() => crypto.createHash('md5').update('x').digest('hex'), () => new URL('https://example.com').href, () => crypto.randomUUID()]) {
    let calls = 0;
    const deeper = () => {
      try { deeper() } catch {}
      if (++calls > 300) return;
      try { if (typeof way() !== 'string') found.add('not text') } catch (error) {
        errors += 1;
        if (!(error instanceof Error) || /node:|file:|isolated-vm|host-calls|\.ts/.test(String(error.stack))) found.add(String(error.stack));
      }
    };
    try { deeper() } catch {}
  }
  return { found: [...found], some: errors > 0 };
}
