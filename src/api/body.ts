/** Reading a request's body: every byte, up to a limit, whatever Content-Length says. */
import type { IncomingMessage } from 'node:http';
import readRaw from 'raw-body';
import { ServiceError } from '../errors.ts';

/** @throws ServiceError body_too_large, body_invalid, content_encoding_unsupported */
export async function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw new ServiceError('content_encoding_unsupported', { detail: `got "${encoding}"; send the body uncompressed` });
  }
  const length = request.headers['content-length'];
  try {
    return await readRaw(request, { limit: limitBytes, ...(length !== undefined && { length }) });
  } catch (error) {
    const { type, message } = error as Error & { type?: string };
    if (type === 'entity.too.large') {
      throw new ServiceError('body_too_large', {
        detail: `the limit is ${limitBytes} bytes; send fewer or smaller events in one request`,
        facts: { limit_bytes: limitBytes },
      });
    }
    throw new ServiceError('body_invalid', { detail: message, cause: error });
  }
}

/** "application/json" of "application/json; charset=utf-8"; empty when there is no such header. */
export function mediaTypeOf(contentType: string | undefined): string {
  return (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() as string;
}

export function isJsonType(mediaType: string): boolean {
  return mediaType === 'application/json' || mediaType.endsWith('+json');
}
