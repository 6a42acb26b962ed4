/** Stubs for steps in tests. */
import type { Memo } from './steps/memo.ts';
import type { Op } from './steps/op.ts';
import type { FetchResponse } from './steps/types.ts';
import { describeError, type ErrorOnTheWire } from './wire-error.ts';

/** Result of a step. */
export type Ending = { data: unknown } | { error: ErrorOnTheWire };

/** undefined: the step has no stub.
 *  @throws Error if it needs one, because no service can run the invoked function, or make the request */
export async function applyStub(op: Op, stubs: Readonly<Record<string, unknown>>): Promise<Ending | undefined> {
  if (!Object.hasOwn(stubs, op.displayName)) {
    if (!['InvokeFunction', 'Gateway', 'AIGateway'].includes(op.op)) return undefined;
    const what = op.opts?.function_id ?? op.opts?.url;
    throw new Error(
      `Step "${op.displayName}" ${op.opts?.function_id ? 'invokes' : 'asks'} ${what}: give its result, as steps: { '${op.displayName}': … }`,
    );
  }
  const stub = stubs[op.displayName];
  try {
    const value: unknown = typeof stub === 'function' ? await stub() : stub;
    return value instanceof Error ? { error: describeError(value) } : { data: dataOf(op, value) };
  } catch (thrown) {
    return { error: describeError(thrown) };
  }
}

function dataOf(op: Op, value: unknown): unknown {
  if (op.op === 'Gateway') return responseOf(op, value as object);
  if (op.op === 'WaitForSignal' && value) return { signal: op.name, data: null, ...value };
  if (op.op !== 'WaitForEvent' || !value) return value ?? null;
  return { name: op.name, data: {}, id: 'test-event', ts: 0, ...value };
}

/** As the service memoizes a response. */
function responseOf(op: Op, value: Partial<FetchResponse> | null): object {
  const { status = 200, headers = {}, body = null, url = op.opts?.url } = value ?? {};
  return { status_code: status, headers, body, url };
}

/** The step's memo in the protocol. */
export function memoOf(op: Op, ending: Ending): Memo {
  const whole = op.op === 'WaitForEvent' || op.op === 'Sleep';
  const memo = 'data' in ending && whole ? ending.data : ending;
  return JSON.parse(JSON.stringify(memo));
}
