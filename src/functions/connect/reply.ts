/** Converts a reply over a connection to the response that the app would have sent over HTTP. */
import type { Dialect } from '../../model/apps/app.ts';
import { MAX_RESPONSE_BYTES } from '../../model/runs/memo.ts';
import { headerName } from '../headers.ts';
import type { CallResponse } from '../http-post.ts';
import { REPLY_STATUS, Reply } from './messages.ts';

/** Largest stored reply. */
export const REPLY_MAX_BYTES = MAX_RESPONSE_BYTES;

const HTTP_STATUS: Record<number, number> = {
  [REPLY_STATUS.notCompleted]: 206,
  [REPLY_STATUS.done]: 200,
  [REPLY_STATUS.error]: 500,
};

/** @throws Error when the bytes are not a reply */
export function responseOf(bytes: Uint8Array, dialect: Dialect): CallResponse {
  const { status, body, noRetry, retryAfter, sdkVersion } = Reply.decode(bytes);
  return {
    // The official TypeScript SDK sends a non-retriable error as done, because its HTTP status, 400, has no equivalent.
    status: status === REPLY_STATUS.done && noRetry ? 400 : (HTTP_STATUS[status] ?? 500),
    headers: {
      [headerName(dialect, 'sdk')]: sdkVersion || 'unknown',
      ...(noRetry && { [headerName(dialect, 'no-retry')]: 'true' }),
      ...(retryAfter && { 'retry-after': retryAfter }),
    },
    body: Buffer.from(body).toString('utf8'),
  };
}

/** Stored instead of a reply that is too large. */
export function tooLargeReply(requestId: string): Uint8Array {
  const message = `the reply is larger than ${REPLY_MAX_BYTES} bytes; store large data elsewhere and return its location`;
  const body = Buffer.from(JSON.stringify({ name: 'OutputTooLarge', message }));
  return Reply.encode({ requestId, status: REPLY_STATUS.error, noRetry: true, body });
}
