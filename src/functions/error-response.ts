/** Reads the error of a response whose status is not a success. */
import { sentError, toRunError, withoutSource } from '../model/runs/run-error.ts';
import type { RunFailure } from '../model/runs/run-failure.ts';
import { isJsonObject, isShallowJson } from '../model/values/json.ts';

/** Quoted part of a body that is not a protocol error. */
const BODY_CHARS = 500;
/** Longest text that is kept as the output of a failed run. */
const MAX_TEXT_OUTPUT = 16_384;

/** @param isFinal the app asks for no retry */
export function failureOf(body: string, status: number, isFinal: boolean): RunFailure {
  const summary = isFinal ? 'NonRetriableError' : `invalid status code: ${status}`;
  const parsed = isShallowJson(body) ? parse(body) : undefined;
  // Some SDKs send the error as a JSON string that contains JSON.
  const sent = typeof parsed === 'string' ? (parse(parsed) ?? parsed) : parsed;
  if (typeof sent === 'string') {
    return { error: toRunError({ message: sent }, ''), output: textOutput(sent), summary };
  }
  const quoted = `the app responded with status ${status}: ${body.slice(0, BODY_CHARS)}`;
  if (!isJsonObject(sent)) return { error: toRunError({}, quoted), output: textOutput(body), summary };
  const error = toRunError(sent, quoted);
  const exact = JSON.stringify(sentError(sent));
  return { error, ...(exact !== JSON.stringify(withoutSource(error)) && { output: exact }), summary };
}

/** JSON text of the beginning of a text. */
export function textOutput(text: string): string {
  return JSON.stringify(text.slice(0, MAX_TEXT_OUTPUT).toWellFormed());
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
