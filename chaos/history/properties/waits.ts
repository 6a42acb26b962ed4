/** Waits: an event that is sent after a wait was recorded, and acknowledged well before its timeout, finishes it; a wait ends with no event
 *  that nobody sent, and times out no sooner than its timeout. */
import type { Send, StoredRun, StoredWait } from '../entry.ts';
import type { History } from '../history.ts';
import { seconds, type Violation } from '../violation.ts';

export interface Wait {
  functionId: string;
  /** Names of the event that starts the run, and of the one that it waits for: both have the same `data.key`. */
  startedBy: string;
  awaited: string;
  timeoutMs: number;
}

/** An acknowledged event is ingested within this time, if nothing fails. */
const INGESTED_WITHIN_MS = 2_000;
/** What a fault delays: another worker takes over the jobs of a dead one. */
const TAKEN_OVER_WITHIN_MS = 15_000;
/** Rounded times, and those of two processes. */
const ROUNDED_MS = 20;

export function checkWaits(history: History, wait: Wait): Violation[] {
  const keys = new Map<string, string | undefined>();
  const awaited = new Map<string, Send[]>();
  const awaitedEvents = new Set<string>();
  for (const send of history.sends) {
    if (send.name === wait.startedBy) for (const id of send.eventIds ?? []) keys.set(id, send.key);
    if (send.name !== wait.awaited || send.key === undefined) continue;
    awaited.set(send.key, [...(awaited.get(send.key) ?? []), send]);
    for (const id of send.eventIds ?? []) awaitedEvents.add(`${send.key} ${id}`);
  }
  return history.runs.flatMap((run) => {
    const key = keys.get(run.eventIds[0] ?? '');
    if (run.functionId !== wait.functionId || key === undefined) return [];
    const sends = awaited.get(key) ?? [];
    return (run.waits ?? []).flatMap((one) => [
      ...missed(history, run, one, sends),
      ...invented(run, one, key, awaitedEvents),
      ...tooShort(history, run, one, wait),
    ]);
  });
}

function missed(history: History, run: StoredRun, wait: StoredWait, sends: readonly Send[]): Violation[] {
  if (!wait.timedOut || history.isClockWrong(wait.sinceMs - TAKEN_OVER_WITHIN_MS, wait.untilMs + TAKEN_OVER_WITHIN_MS))
    return [];
  const acknowledged = sends.find(({ result }) => result === 'ok');
  const [first] = sends;
  if (!acknowledged || !first || first.invokedMs <= wait.sinceMs + ROUNDED_MS) return [];
  const patienceMs = history.excuses(first.invokedMs - TAKEN_OVER_WITHIN_MS, wait.untilMs)
    ? TAKEN_OVER_WITHIN_MS
    : INGESTED_WITHIN_MS;
  if (acknowledged.completedMs > wait.untilMs - patienceMs) return [];
  return [
    {
      what: `run ${run.runId} waited until ${seconds(wait.untilMs)} and missed the event that was acknowledged at ${seconds(acknowledged.completedMs)}`,
      proof: [first, acknowledged, run],
    },
  ];
}

function invented(run: StoredRun, wait: StoredWait, key: string, awaited: ReadonlySet<string>): Violation[] {
  if (wait.eventId === null || awaited.has(`${key} ${wait.eventId}`)) return [];
  return [{ what: `run ${run.runId} went on with event ${wait.eventId}, which was not sent for it`, proof: [run] }];
}

/** Both times are by the app's clock: the start of the step before the wait, and of the one after it. */
function tooShort(history: History, run: StoredRun, wait: StoredWait, { timeoutMs }: Wait): Violation[] {
  if (!wait.timedOut) return [];
  const ofRun = history.starts.filter(({ runId }) => runId === run.runId);
  const [first] = ofRun;
  const after = ofRun.find(({ step }) => step !== first?.step);
  if (!first || !after || after.atMs - first.atMs >= timeoutMs - ROUNDED_MS) return [];
  if (history.isClockWrong(first.atMs - TAKEN_OVER_WITHIN_MS, after.atMs)) return [];
  return [{ what: `run ${run.runId} timed out after ${seconds(after.atMs - first.atMs)}`, proof: [first, after, run] }];
}
