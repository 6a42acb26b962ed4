/** Body of a call request: canonical JSON (RFC 8785), so that an app can check its signature even after its framework has parsed it. */
import { type EventRecord, receivedEventOf } from '../model/events/event.ts';
import { MAX_CALL_BYTES, type Memo } from '../model/runs/memo.ts';
import type { Run } from '../model/runs/run.ts';
import { encodeQueueItem, functionUuid } from './call-ids.ts';
import { canonical } from './canonical-json.ts';

export interface CallContext {
  run: Run;
  /** The first event of a batch. */
  event: EventRecord;
  /** All events of a batch, in order. */
  events?: readonly EventRecord[] | undefined;
  maxAttempts: number;
  /** Number of finished steps that the call is for; undefined for the call of a planned step. */
  finishedSteps?: number | undefined;
  executions: number;
  jobId: string;
  /** Unix milliseconds. */
  startedAt: number;
  /** Hashed ID of the planned step to run; undefined: continue the function. */
  stepId?: string | undefined;
  /** Hashed IDs of the finished steps in the order of their completion. */
  stack: readonly string[];
  memos: Readonly<Record<string, Memo>>;
  /** The memos do not fit into the body. */
  omitsMemos?: true | undefined;
  /** True while other steps are in progress: the SDK then plans new steps instead of running them. */
  planOnly: boolean;
  /** IDs of the functions deferred by the run. */
  defers?: readonly string[] | undefined;
  /** The call stores nothing, so nothing in it identifies its run. */
  whatIf?: true;
}

/** A call that must have all of its run in its body would be too large. */
export class CallTooLarge extends Error {
  override name = 'CallTooLarge';
}

/** The queue item of a what-if call. No checkpoint can name it. */
const NO_QUEUE_ITEM = 'what-if';

/** Fields only for Tidegate's own clients. */
export interface ClientFields {
  /** Whether the app may send its functions' logs. */
  takesLogs: boolean;
}

/** @throws CallTooLarge */
export function callRequestBody(context: CallContext, client?: ClientFields): string {
  const { run, event, events: batch, stack, memos, maxAttempts, planOnly, stepId, defers } = context;
  const payload = canonical(receivedEventOf(event));
  const payloads = batch ? payloadsOf(batch) : payload;
  const steps = context.omitsMemos ? '' : canonical(memos);
  const trimmed =
    context.omitsMemos || payloads === undefined || payload.length + payloads.length + steps.length > MAX_CALL_BYTES;
  if (trimmed && context.whatIf) throw new CallTooLarge();
  // In canonical order.
  const ctx = canonical({
    attempt: run.attempt,
    disable_immediate_execution: planOnly,
    env: run.env,
    ...(client?.takesLogs && { logs: true }),
    fn_id: functionUuid(run.env, run.functionId),
    max_attempts: maxAttempts,
    qi_id: context.whatIf
      ? NO_QUEUE_ITEM
      : encodeQueueItem({ env: run.env, finishedSteps: context.finishedSteps, executions: context.executions }),
    ...(client && run.earlierRuns && { rerun_of: run.earlierRuns }),
    run_id: run.id,
    stack: { current: stack.length, stack },
    step_id: stepId ?? 'step',
    use_api: trimmed,
  });
  const [events, known] = trimmed ? ['[]', '{}'] : [`[${payloads}]`, steps];
  const deferred = defers
    ? `"defers":${canonical(Object.fromEntries(defers.map((id) => [id, { abortable: true }])))},`
    : '';
  return `{"ctx":${ctx},${deferred}"event":${payload},"events":${events},"steps":${known},"use_api":${trimmed},"version":-1}`;
}

/** undefined if they exceed the maximum of a call, detected before all are written. */
function payloadsOf(batch: readonly EventRecord[]): string | undefined {
  let text = '';
  for (const event of batch) {
    text += `${text && ','}${canonical(receivedEventOf(event))}`;
    if (text.length > MAX_CALL_BYTES) return undefined;
  }
  return text;
}
