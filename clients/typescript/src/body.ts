/** Reads the raw body of a request. */
import type { IncomingMessage } from 'node:http';
import { ServeError } from './errors.ts';

/** Calls of the service have at most about 4 MiB. */
export const MAX_BODY_BYTES = 16 * 1_024 * 1_024;

/** Drains a body that is too large, so that the response arrives.
 *  @throws ServeError */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  if (request.readableEnded) throw readBefore();
  return gather(request);
}

/** @throws ServeError */
export async function readFetchBody(request: Request): Promise<Buffer> {
  if (request.bodyUsed) throw readBefore();
  return request.body ? gather(request.body) : Buffer.alloc(0);
}

async function gather(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  if (bytes > MAX_BODY_BYTES) throw new ServeError(413, `The body is larger than ${MAX_BODY_BYTES} bytes`);
  return Buffer.concat(chunks);
}

function readBefore(): ServeError {
  return new ServeError(500, 'Something in front of this handler has read the body and kept it');
}
