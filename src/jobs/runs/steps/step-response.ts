/** Converts the response to a step's request into the memo of the step (docs/protocol.md#gateway), or into a failure of the attempt. */
import { type Failure, permanentFailure, retriableFailure } from '../../../functions/interpret-response.ts';
import type { StepResponse } from '../../../functions/step-request-client.ts';
import { redact } from '../../../model/requests/secrets.ts';
import { originOf, type StepRequest } from '../../../model/requests/step-request.ts';
import { MAX_STEP_BYTES, type Memo } from '../../../model/runs/memo.ts';
import { retryAfterMs } from '../../../model/runs/retry.ts';
import { isShallowJson, MAX_DEPTH } from '../../../model/values/json.ts';

/** Statuses whose responses have no body: `new Response('', { status: 204 })` throws. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([101, 103, 204, 205, 304]);
/** Headers of the connection between the service and the host, or of a body that is already decoded. */
const NOT_PASSED_ON: ReadonlySet<string> = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'keep-alive',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
/** Client errors that another attempt may not have: timeout, conflict, too early, too many requests. */
const RETRIED: ReadonlySet<number> = new Set([408, 409, 425, 429]);
/** Maximum length of the quoted part of a provider's error. */
const BODY_CHARS = 1_000;

/** @param secrets texts to remove from a provider's response
 *  @param nowMs base for a `retry-after` date */
export function resultOf(
  request: StepRequest,
  response: StepResponse,
  secrets: readonly string[],
  nowMs: number,
): { memo: Memo } | Failure {
  const result = request.kind === 'infer' ? inference(request, response, secrets, nowMs) : fetched(response);
  if ('kind' in result || Buffer.byteLength(JSON.stringify(result.memo)) <= MAX_STEP_BYTES) return result;
  return permanentFailure(
    'ResponseTooLarge',
    `the response of ${originOf(request)} is larger than ${MAX_STEP_BYTES} bytes as JSON`,
  );
}

/** The response with any status, as `fetch` returns it. */
function fetched({ status, headers, body, url }: StepResponse): { memo: Memo } {
  const { origin, pathname } = new URL(url);
  const data = {
    status_code: status,
    headers: passedOn(headers),
    body: WITHOUT_BODY.has(status) ? null : body.toString('utf8'),
    url: origin + pathname,
  };
  return { memo: { data } };
}

function passedOn(headers: StepResponse['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || NOT_PASSED_ON.has(name) ? [] : [[canonicalName(name), [value].flat().join(', ')]],
    ),
  );
}

/** `Content-Type`: SDKs that look a header up in a plain map expect this spelling. */
function canonicalName(name: string): string {
  return name.replaceAll(/(^|-)([a-z])/g, (_, hyphen: string, letter: string) => hyphen + letter.toUpperCase());
}

/** The JSON of the provider's response. */
function inference(
  request: StepRequest,
  { status, headers, body }: StepResponse,
  secrets: readonly string[],
  nowMs: number,
): { memo: Memo } | Failure {
  const text = redact(body.toString('utf8'), secrets);
  const origin = originOf(request);
  if (status < 200 || status > 299) {
    const message = `${origin} responded with status ${status}: ${text.slice(0, BODY_CHARS)}`;
    if (status < 500 && !RETRIED.has(status)) return permanentFailure('ProviderError', message);
    return { ...retriableFailure('ProviderError', message), retryAfterMs: retryAfterMs(headers['retry-after'], nowMs) };
  }
  if (!isShallowJson(text)) {
    return permanentFailure('ProviderError', `the response of ${origin} is nested deeper than ${MAX_DEPTH} levels`);
  }
  try {
    return { memo: { data: JSON.parse(text) } };
  } catch {
    return retriableFailure('ProviderError', `the response of ${origin} (status ${status}) is not JSON`);
  }
}
