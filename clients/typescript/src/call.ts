/** Parses the body of a call request. Fetches parts that did not fit from the service (`use_api`, docs/protocol.md#large-calls). */
import { ServeError } from './errors.ts';
import type { IncomingEvent } from './events.ts';
import { askService } from './service.ts';
import type { Settings } from './settings.ts';
import type { Memos } from './steps/memo.ts';

export interface Call {
  event: IncomingEvent;
  events: IncomingEvent[];
  runId: string;
  /** With the execution's ID, for checkpoints; undefined: not in the request. */
  functionUuid?: string | undefined;
  executionId?: string | undefined;
  /** For a re-run from a step: the runs whose results it has, latest first. */
  rerunOf: readonly string[];
  attempt: number;
  /** undefined: not in the request. */
  maxAttempts: number | undefined;
  memos: Memos;
  /** Hashed IDs of finished steps, in order of completion. */
  order: readonly string[];
  disableImmediateExecution: boolean;
  /** Whether the service takes what the function logs. */
  takesLogs: boolean;
}

/** The fields of the body that this client reads. */
interface CallBody {
  event?: IncomingEvent;
  events?: IncomingEvent[];
  steps?: Memos;
  use_api?: boolean;
  ctx?: {
    run_id?: string;
    fn_id?: string;
    qi_id?: string;
    rerun_of?: string[];
    attempt?: number;
    max_attempts?: number;
    use_api?: boolean;
    disable_immediate_execution?: boolean;
    logs?: boolean;
    stack?: { stack?: string[] | null };
  };
}

/** @throws ServeError if the body is not a call request, or its remaining parts cannot be fetched */
export async function readCall(text: string, settings: Settings): Promise<Call> {
  const body = parseBody(text);
  const { ctx } = body;
  if (!ctx?.run_id) throw new ServeError(400, 'The body is not a call request: it lacks ctx.run_id');
  const whole = (body.use_api ?? ctx.use_api) ? await fetchState(ctx.run_id, settings) : body;
  const event = body.event ?? whole.events?.[0];
  if (!event) throw new ServeError(400, 'The body is not a call request: it lacks event');
  return {
    event,
    events: whole.events ?? [event],
    runId: ctx.run_id,
    functionUuid: ctx.fn_id,
    executionId: ctx.qi_id,
    rerunOf: ctx.rerun_of ?? [],
    attempt: ctx.attempt ?? 0,
    maxAttempts: ctx.max_attempts,
    memos: whole.steps ?? {},
    order: ctx.stack?.stack ?? [],
    disableImmediateExecution: ctx.disable_immediate_execution ?? false,
    takesLogs: ctx.logs === true,
  };
}

function parseBody(text: string): CallBody {
  try {
    return JSON.parse(text) ?? {};
  } catch (cause) {
    throw new ServeError(400, 'The body is not JSON', { cause });
  }
}

async function fetchState(runId: string, settings: Settings): Promise<Pick<CallBody, 'events' | 'steps'>> {
  const run = `/v0/runs/${encodeURIComponent(runId)}`;
  const [events, steps] = await Promise.all([
    askService(`${run}/batch`, {}, settings),
    askService(`${run}/actions`, {}, settings),
  ]);
  for (const { ok, status } of [events, steps]) {
    if (!ok)
      throw new ServeError(500, `The state of run ${runId} could not be fetched: the service answered ${status}`);
  }
  return { events: parseBody(events.text) as IncomingEvent[], steps: parseBody(steps.text) as Memos };
}
