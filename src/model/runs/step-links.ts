/** Other objects to which a step is linked. They are read from the operation when the step finishes, so that showing them does not load the
 *  result. */
import { ID_PATTERN } from '../ids.ts';
import { isJsonObject } from '../values/json.ts';
import type { Pending } from './memo.ts';
import type { Op } from './operation.ts';
import { MAX_SENT_IDS, type StepLinks } from './run.ts';

/** Links of a step that ran in the app: the events that it sent, or the run that its signal reached. Clients name the step type in
 *  `opts.type`. Results encrypted by a middleware yield no links. */
export function linksOfResult({ opts, data }: Op): StepLinks {
  const type: unknown = isJsonObject(opts) ? opts.type : undefined;
  if (type === 'step.sendEvent') return sent(data);
  if (type === 'step.sendSignal') return signaled(data);
  return {};
}

/** Links of a step that makes a request.
 *  @param status of the response; undefined before it arrives */
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

/** Tidegate's clients return the ID itself, the official SDK an object that contains it. */
function signaled(data: unknown): StepLinks {
  const id: unknown = isJsonObject(data) ? (data.runId ?? data.run_id) : data;
  return isId(id) ? { runId: id } : {};
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && ID_PATTERN.test(value);
}
