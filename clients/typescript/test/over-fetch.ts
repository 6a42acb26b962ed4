import type { RequestListener } from 'node:http';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';

/** A Node server that calls a Fetch handler, like a Fetch runtime. */
export function overFetch(handle: (request: Request) => Response | Promise<Response>): RequestListener {
  return async (req, res) => {
    const hasBody = req.method !== 'GET' && req.method !== 'HEAD';
    const request = new Request(`http://${req.headers.host}${req.url}`, {
      method: req.method ?? 'GET',
      headers: req.headers as Record<string, string>,
      ...(hasBody && { body: Readable.toWeb(req) as ReadableStream<Uint8Array>, duplex: 'half' }),
    });
    const response = await handle(request);
    res.writeHead(response.status, Object.fromEntries(response.headers)).end(await response.text());
  };
}
