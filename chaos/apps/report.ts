/** The app's own record of what it executes, with its own clock: sent to EXECUTIONS_URL before the work goes on. */
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { functionIdOf } from './limits.ts';

/** The step of a call of a function without steps. */
export const CALL = '(call)';

/** What a report needs of the context of a function. */
interface Context {
  runId: string;
  events: readonly { data?: unknown; ts?: number }[];
}

/** @param id of the function in the app
 *  @param finished steps whose results the service sent with this call */
export async function report(id: string, context: Context, step = CALL, finished: string[] = []): Promise<void> {
  await send('start', randomUUID(), id, context, step, finished);
}

/** Reports the start and the end of a call that lasts so long. */
export async function hold(id: string, context: Context, heldMs: number): Promise<void> {
  const execution = randomUUID();
  await send('start', execution, id, context, CALL, []);
  await setTimeout(heldMs);
  await send('end', execution, id, context, CALL, []);
}

async function send(
  phase: 'start' | 'end',
  execution: string,
  id: string,
  { runId, events }: Context,
  step: string,
  finished: string[],
): Promise<void> {
  const atMs = performance.timeOrigin + performance.now();
  const data = events.map((event) => (event.data ?? {}) as { id?: string; key?: string });
  const body = JSON.stringify({
    ...{ phase, id: execution, app: 'typescript', functionId: functionIdOf(id), runId, step, finished, atMs },
    sentIds: data.flatMap((one) => one.id ?? []),
    process: process.pid,
    key: data[0]?.key,
    ts: events[0]?.ts,
  });
  await fetch(process.env.EXECUTIONS_URL as string, { method: 'POST', body });
}
