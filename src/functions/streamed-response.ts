/** Streamed responses: status 201 at once, white space while the function runs, and at the end a JSON envelope with the actual response
 *  (docs/protocol.md#streamed-answers). */
import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { expected } from '../model/values/expected.ts';
import { tryParseJson } from '../model/values/json.ts';
import { headerName } from './headers.ts';
import type { CallResponse } from './http-post.ts';

export const STREAMED = 201;

const envelopeSchema = z.object({
  status: z.int().min(200).max(599),
  headers: z.record(z.string(), z.unknown()).nullish(),
  body: z.unknown().optional(),
  /** Only the official Go SDK sends these, instead of headers. */
  noRetry: z.boolean().nullish(),
  retryAt: z.string().nullish(),
});

/** @param response a response with status 201
 *  @returns the response in the envelope, or the reason why there is none */
export function unwrapStreamed({ headers, body }: CallResponse): CallResponse | string {
  const { success, data, error } = envelopeSchema.safeParse(tryParseJson(body), { error: expected });
  if (!success) {
    const { path, message } = error.issues[0] as z.core.$ZodIssue;
    return `it does not end with a JSON object of status, headers and body (${path.join('.')}: ${message})`;
  }
  if (data.status === STREAMED) return 'its envelope has status 201 too';
  // Headers mean that the body is text, as in HTTP. The Go SDK has no headers, and a body of any type.
  const isText = typeof data.body === 'string' && data.headers;
  return {
    status: data.status,
    headers: {
      ...headers,
      ...lowercased(data.headers ?? {}),
      ...(data.noRetry === true && { [headerName('inngest', 'no-retry')]: 'true' }),
      ...(data.retryAt && { 'retry-after': data.retryAt }),
    },
    body: isText ? (data.body as string) : JSON.stringify(data.body ?? null),
  };
}

function lowercased(headers: Record<string, unknown>): IncomingHttpHeaders {
  const known: IncomingHttpHeaders = {};
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string') known[name.toLowerCase()] = value;
  }
  return known;
}
