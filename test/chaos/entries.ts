/** Entries of hand-made histories. */
import type { Control, Execution, FaultEntry, Send, StoredEvent, StoredRun } from '../../chaos/history/entry.ts';

export const FN = 'app-fn';

/** Acknowledged 10 ms later, as the event `event <id>`. */
export function send(id: string, invokedMs: number, more: Partial<Send> = {}): Send {
  const acknowledged = { completedMs: invokedMs + 10, result: 'ok' as const, eventIds: [`event ${id}`] };
  return { kind: 'send', name: 'a/b', ids: [id], invokedMs, ...acknowledged, ...more };
}

export function start(runId: string, atMs: number, more: Partial<Execution> = {}): Execution {
  return {
    ...{ kind: 'execution', phase: 'start', id: `${runId} ${atMs}`, app: 'app', functionId: FN, runId },
    ...{ step: '(call)', sentIds: [], finished: [], atMs },
    ...more,
  };
}

export const end = (runId: string, atMs: number, more: Partial<Execution> = {}): Execution =>
  start(runId, atMs, { phase: 'end', ...more });

export function event(id: string, more: Partial<StoredEvent> = {}): StoredEvent {
  return { kind: 'event', eventId: `event ${id}`, name: 'a/b', sentId: id, ...more };
}

/** Completed, for the event `event <id>`. */
export function run(runId: string, id: string, more: Partial<StoredRun> = {}): StoredRun {
  const eventIds = [`event ${id}`];
  return { kind: 'run', runId, functionId: FN, eventIds, status: 'Completed', retryOf: null, replayId: null, ...more };
}

export function fault(what: string, fromMs: number, untilMs: number, excuses = true): FaultEntry {
  return { kind: 'fault', what, fromMs, untilMs, excuses };
}

export function control(what: Control['what'], invokedMs: number, more: Partial<Control> = {}): Control {
  return { kind: 'control', what, functionId: FN, invokedMs, completedMs: invokedMs + 10, result: 'ok', ...more };
}
