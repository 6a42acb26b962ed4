/** Reads a request's body up to a limit, regardless of Content-Length. */
import type { IncomingMessage } from 'node:http';
import readRaw from 'raw-body';
import { ServiceError } from '../../errors.ts';

/** @param remedy how users can raise the limit, if they can
 *  @throws ServiceError body_too_large, body_invalid, content_encoding_unsupported */
export async function readBody(request: IncomingMessage, limitBytes: number, remedy?: string): Promise<Buffer> {
  rejectEncoding(request);
  const whole = arrivedWhole(request, limitBytes);
  if (whole) return whole;
  const length = request.headers['content-length'];
  try {
    return await readRaw(request, { limit: limitBytes, ...(length !== undefined && { length }) });
  } catch (error) {
    throw (
      bodyError(error, limitBytes, remedy) ??
      new ServiceError('body_invalid', { detail: (error as Error).message, cause: error })
    );
  }
}

/** @throws ServiceError body_not_json */
export function parseJson(text: string, parse: (text: string) => unknown = JSON.parse): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw new ServiceError('body_not_json', { detail: (error as Error).message, cause: error });
  }
}

/** A short body arrives with its headers, before anything reads it, and needs no listener. Node marks such a request as complete only after
 *  this turn; the length of the body shows it before.
 *  @returns undefined if the body is empty, too long, or not complete yet */
function arrivedWhole(request: IncomingMessage, limitBytes: number): Buffer | undefined {
  const { complete, headers, readableLength, readableFlowing, readableEncoding, destroyed } = request;
  if (destroyed || readableFlowing !== null || readableEncoding !== null) return undefined;
  if (readableLength === 0 || readableLength > limitBytes) return undefined;
  if (!complete && Number(headers['content-length']) !== readableLength) return undefined;
  return (request.read() as Buffer | null) ?? undefined;
}

/** Translates an error of raw-body; undefined: the error is not from raw-body. */
export function bodyError(error: unknown, limitBytes: number, remedy?: string): ServiceError | undefined {
  const { type, message } = error as Error & { type?: string };
  if (type === 'entity.too.large') return bodyTooLarge(limitBytes, remedy);
  return type === undefined ? undefined : new ServiceError('body_invalid', { detail: message, cause: error });
}

export function bodyTooLarge(limitBytes: number, remedy?: string): ServiceError {
  return new ServiceError('body_too_large', {
    detail: `the limit is ${limitBytes} bytes; send fewer or smaller events in one request${remedy ? `, or ${remedy}` : ''}`,
    facts: { limit_bytes: limitBytes },
  });
}

/** @throws ServiceError content_encoding_unsupported */
export function rejectEncoding({ headers }: IncomingMessage): void {
  const encoding = headers['content-encoding'];
  if (encoding === undefined || encoding === 'identity') return;
  throw new ServiceError('content_encoding_unsupported', { detail: `got "${encoding}"; send the body uncompressed` });
}

/** "application/json" for "application/json; charset=utf-8"; empty if the header is missing. */
export function mediaTypeOf(contentType: string | undefined): string {
  return (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() as string;
}

/** A media type, for an error message. */
export function describeType(mediaType: string): string {
  return mediaType === '' ? 'none' : `"${mediaType}"`;
}

export function isJsonType(mediaType: string): boolean {
  return mediaType === 'application/json' || mediaType.endsWith('+json');
}
