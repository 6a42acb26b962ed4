import type { IncomingMessage } from 'node:http';
import { ServeError } from './errors.ts';

/** The service trims a call past 4 MiB: what is much larger is not one. */
const MAX_BYTES = 16 * 1024 * 1024;

/** The raw body of a request that nobody has read yet. What is too large is drained, not kept.
 *  @throws ServeError */
export function readBody(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (request.readableEnded) {
      reject(new ServeError(500, 'Something in front of this handler has read the body and kept it'));
      return;
    }
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= MAX_BYTES) chunks.push(chunk);
      else reject(new ServeError(413, `The body is larger than ${MAX_BYTES} bytes`));
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', reject);
  });
}
