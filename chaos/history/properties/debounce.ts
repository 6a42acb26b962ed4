/** Debounce: a run starts no sooner than the period after its event, and for each acknowledged event there is a run with it, or with one that
 *  may have come later. */
import type { Execution, Send } from '../entry.ts';
import type { History } from '../history.ts';
import { seconds, type Violation } from '../violation.ts';

export interface Debounce {
  functionId: string;
  name: string;
  periodMs: number;
}

/** How long the clock of a process is wrong at most, and by how much. */
const CLOCK_MS = 15_000;

export function checkDebounce(history: History, { functionId, name, periodMs }: Debounce): Violation[] {
  const sends = history.sends.filter((send) => send.name === name);
  const byId = Map.groupBy(sends, ({ ids: [id = ''] }) => id);
  const starts = history.firstStarts(functionId);
  return [...tooEarly(history, starts, byId, { functionId, periodMs }), ...lost(starts, byId, functionId)];
}

function tooEarly(
  history: History,
  starts: readonly Execution[],
  byId: ReadonlyMap<string, readonly Send[]>,
  { functionId, periodMs }: Pick<Debounce, 'functionId' | 'periodMs'>,
): Violation[] {
  return starts.flatMap((start) => {
    const [send] = byId.get(start.sentIds[0] ?? '') ?? [];
    if (!send || start.atMs - send.invokedMs >= periodMs) return [];
    if (history.isClockWrong(start.atMs - CLOCK_MS, start.atMs)) return [];
    const earlyMs = periodMs - (start.atMs - send.invokedMs);
    return [
      { what: `${functionId}: the run of ${send.ids[0]} started ${seconds(earlyMs)} too early`, proof: [send, start] },
    ];
  });
}

function lost(
  starts: readonly Execution[],
  byId: ReadonlyMap<string, readonly Send[]>,
  functionId: string,
): Violation[] {
  const lastSend = (id: string) => byId.get(id)?.at(-1);
  const ran = starts.flatMap(({ sentIds: [id = ''] }) => lastSend(id) ?? []);
  return [...byId.values()].flatMap((sends) => {
    const [first] = sends as [Send, ...Send[]];
    const acknowledged = sends.find(({ result }) => result === 'ok');
    if (!acknowledged) return [];
    const standsFor = (other: Send) => other.key === first.key && other.completedMs >= first.invokedMs;
    if (ran.some(standsFor)) return [];
    return [
      { what: `${functionId}: no run for ${first.ids[0]}, nor for a later event of its key`, proof: [acknowledged] },
    ];
  });
}
