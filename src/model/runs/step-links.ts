/** What a step has to do with beside its own run: read from its operation when it finishes, so that nobody has to read its result for it. */
import { ID_PATTERN } from '../ids.ts';
import { isJsonObject } from '../values/json.ts';
import type { Pending } from './memo.ts';
import type { Op } from './operation.ts';
import { MAX_SENT_IDS, type StepLinks } from './run.ts';

/** Links of a step that ran in the app: the events that it sent, or the run that its signal reached. Clients name such steps in `opts.type`; a result that
 *  a middleware has encrypted says nothing. */
export function linksOfResult({ opts, data }: Op): StepLinks {
  const type: unknown = isJsonObject(opts) ? opts.type : undefined;
  if (type === 'step.sendEvent') return sent(data);
  if (type === 'step.sendSignal') return signaled(data);
  return {};
}

/** Links of a step for which the service makes a request.
 *  @param status of the response, once there is one */
export function linksOfRequest(
  { origin, method }: { [Field in 'origin' | 'method']?: Pending[Field] | undefined },
  status?: number,
): StepLinks {
  if (origin === undefined || method === undefined) return {};
  return { request: { method, origin, ...(status !== undefined && { status }) } };
}

function sent(data: unknown): StepLinks {
  const ids: unknown = isJsonObject(data) ? data.ids : undefined;
  if (!Array.isArray(ids)) return {};
  return { sent: { ids: ids.slice(0, MAX_SENT_IDS).filter(isId), count: ids.length } };
}

/** The clients return the ID itself, the official SDK an object with it. */
function signaled(data: unknown): StepLinks {
  const id: unknown = isJsonObject(data) ? (data.runId ?? data.run_id) : data;
  return isId(id) ? { runId: id } : {};
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && ID_PATTERN.test(value);
}
