/** Responds to a request whose body is still being received. Closing the connection immediately would reset it, and a client that is still
 *  sending would lose the response; so this reads and drops the rest of the body first (RFC 9112, section 9.6), if it is short and arrives
 *  soon. */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

const REST_MAX_BYTES = 16 * 1_024 * 1_024;
const REST_MAX_MS = 2_000;

/** @returns a body that the client receives immediately, and that ends with the rest of the request */
export function lingeringBody(text: string, request: IncomingMessage): Readable {
  return Readable.from(withRest(text, request), { objectMode: false });
}

async function* withRest(text: string, request: IncomingMessage): AsyncIterable<string> {
  yield text;
  await dropRest(request);
}

async function dropRest(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed) return;
  const done = Promise.withResolvers<void>();
  let left = REST_MAX_BYTES;
  const count = ({ length }: Buffer) => {
    left -= length;
    if (left < 0) done.resolve();
  };
  const timer = setTimeout(done.resolve, REST_MAX_MS);
  request.on('data', count).once('end', done.resolve).once('close', done.resolve).resume();
  await done.promise;
  clearTimeout(timer);
  request.off('data', count).off('end', done.resolve).off('close', done.resolve);
}
