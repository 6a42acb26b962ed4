/** Rate limit: no window of the period has more admitted runs of a key than the limit, and no event is skipped where there were fewer. An
 *  admission is between the first sending of its event and the start of its run. */
import type { Execution, Send } from '../entry.ts';
import type { History } from '../history.ts';
import { seconds, type Violation } from '../violation.ts';

export interface RateLimit {
  functionId: string;
  limit: number;
  periodMs: number;
}

interface Admission {
  send: Send;
  start: Execution;
}

/** Rounded times of the API. */
const ROUNDED_MS = 5;

export function checkRateLimit(history: History, limit: RateLimit): Violation[] {
  const firstSends = new Map<string, Send>();
  for (const send of history.sends) for (const id of send.ids) if (!firstSends.has(id)) firstSends.set(id, send);
  const admissions = history.firstStarts(limit.functionId).flatMap((start) => {
    const send = firstSends.get(start.sentIds[0] ?? '');
    return send ? [{ send, start }] : [];
  });
  const byKey = Map.groupBy(admissions, ({ start }) => start.key ?? '');
  return [
    ...[...byKey].flatMap(([key, ofKey]) => exceeded(key, ofKey, limit)),
    ...skippedTooEarly(history, byKey, firstSends, limit),
  ];
}

function exceeded(key: string, admissions: readonly Admission[], limit: RateLimit): Violation[] {
  return admissions.flatMap((first) => {
    // Those that were certainly admitted in one window with it, and after it was sent.
    const inWindow = admissions.filter(
      ({ send, start }) =>
        send.invokedMs >= first.send.invokedMs && start.atMs - first.send.invokedMs < limit.periodMs - ROUNDED_MS,
    );
    if (inWindow.length <= limit.limit) return [];
    return [
      {
        what: `${limit.functionId}: ${inWindow.length} runs of the key ${key} within ${seconds(limit.periodMs)} from ${seconds(first.send.invokedMs)} on; the limit is ${limit.limit}`,
        proof: inWindow.flatMap(({ send, start }) => [send, start]),
      },
    ];
  });
}

function skippedTooEarly(
  history: History,
  byKey: ReadonlyMap<string, readonly Admission[]>,
  firstSends: ReadonlyMap<string, Send>,
  { functionId, limit, periodMs }: RateLimit,
): Violation[] {
  return history.events.flatMap((event) => {
    const decision = event.decisions?.find((one) => one.functionId === functionId && one.reason === 'rate_limited');
    const send = firstSends.get(event.sentId ?? '');
    if (!decision || !send) return [];
    const { untilMs = Number.POSITIVE_INFINITY } = decision;
    const possible = (byKey.get(send.key ?? '') ?? []).filter(
      (admission) => admission.send.invokedMs <= untilMs && admission.start.atMs >= send.invokedMs - periodMs,
    );
    if (possible.length >= limit) return [];
    return [
      {
        what: `${functionId}: ${event.sentId} was rate-limited although at most ${possible.length} runs of the key ${send.key} were admitted in the period; the limit is ${limit}`,
        proof: [send, event, ...possible.map(({ start }) => start)],
      },
    ];
  });
}
