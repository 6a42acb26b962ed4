/** Reads the error of a response whose status is not a success. */
import { sentError, toRunError, withoutSource } from '../model/runs/run-error.ts';
import type { RunFailure } from '../model/runs/run-failure.ts';
import { isJsonObject, isShallowJson, tryParseJson } from '../model/values/json.ts';
import type { CallResponse } from './http-post.ts';

/** Maximum length of the quoted part of a body that is not a protocol error. */
const BODY_CHARS = 500;
/** Longest text stored as the output of a failed run. */
const MAX_TEXT_OUTPUT = 16_384;

/** @param isFinal whether the app asks for no retry */
export function failureOf(body: string, status: number, isFinal: boolean): RunFailure {
  const summary = isFinal ? 'NonRetriableError' : `invalid status code: ${status}`;
  const isShallow = isShallowJson(body);
  const parsed = isShallow ? tryParseJson(body) : undefined;
  // Some SDKs send the error as a JSON string that contains JSON, others as text.
  const text = typeof parsed === 'string' ? parsed : parsed === undefined && isShallow ? body : undefined;
  const sent = text === undefined ? parsed : (tryParseJson(text) ?? text);
  if (typeof sent === 'string' && sent.trim() !== '') {
    return { error: toRunError({ message: sent.toWellFormed() }, ''), output: textOutput(sent), summary };
  }
  const quoted = `the app responded with status ${status}: ${excerpt(body)}`;
  if (!isJsonObject(sent)) return { error: toRunError({}, quoted), output: textOutput(body), summary };
  const error = toRunError(sent, quoted);
  const exact = JSON.stringify(sentError(sent));
  return { error, ...(exact !== JSON.stringify(withoutSource(error)) && { output: exact }), summary };
}

/** The failure of a response without the header of an SDK: of a proxy, for example. */
export function foreignFailure({ status, body }: CallResponse): RunFailure {
  const problem = `the response (status ${status}) did not come from an SDK: it has no sdk header; check the URL`;
  const error = { name: 'AppError', message: problem };
  // Users of official apps look for a success's text, and for these words about a 206.
  if (status === 206) return { error, output: textOutput(`error reading generator opcode response: ${body}`) };
  if (isSuccess(status)) return { error, output: textOutput(body) };
  if (body.trim() === '') return { error, output: JSON.stringify({ ...error, status }) };
  const message = `${problem}. It begins with: ${excerpt(body)}`;
  return { error: { ...error, message }, output: JSON.stringify({ ...error, message, status }) };
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

function excerpt(body: string): string {
  return body.slice(0, BODY_CHARS).toWellFormed();
}

/** JSON text of a text's beginning. */
function textOutput(text: string): string {
  return JSON.stringify(text.slice(0, MAX_TEXT_OUTPUT).toWellFormed());
}
