/** The body of a call request: canonical JSON (RFC 8785), so that an app that was handed it parsed can check its signature. */
import canonicalize from 'canonicalize';
import { type EventRecord, payloadOf } from '../model/event.ts';
import type { Run } from '../model/run.ts';

export interface CallContext {
  run: Run;
  event: EventRecord;
  maxAttempts: number;
}

export function callRequestBody({ run, event, maxAttempts }: CallContext): string {
  const payload = canonical(payloadOf(event));
  const ctx = canonical({
    attempt: run.attempt,
    disable_immediate_execution: false,
    env: run.env,
    max_attempts: maxAttempts,
    run_id: run.id,
    stack: { current: 0, stack: [] },
    step_id: 'step',
    use_api: false,
  });
  return `{"ctx":${ctx},"event":${payload},"events":[${payload}],"steps":{},"use_api":false,"version":-1}`;
}

/** Canonical JSON of any JSON value. What RFC 8785 has no form for is replaced as JavaScript would: half a surrogate pair by
 *  U+FFFD, a number beyond a double by null. */
export function canonical(value: unknown): string {
  try {
    return canonicalize(value) as string;
  } catch {
    const text = JSON.stringify(value).replace(/(?<=(?<!\\)(?:\\\\)*)\\ud[89a-f][\da-f]{2}/g, '\ufffd');
    return canonicalize(JSON.parse(text)) as string;
  }
}
