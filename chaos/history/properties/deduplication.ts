/** Deduplication: what a sender sends under one ID is one event, however often it is acknowledged, and each function runs once for it. */
import type { Execution, Send, StoredEvent } from '../entry.ts';
import type { History } from '../history.ts';
import type { Violation } from '../violation.ts';

export function checkDeduplication(history: History): Violation[] {
  return [...acknowledgedTwice(history), ...storedTwice(history), ...ranTwice(history)];
}

function acknowledgedTwice({ sends }: History): Violation[] {
  const known = new Map<string, { eventId: string; send: Send }>();
  const violations: Violation[] = [];
  for (const send of sends) {
    for (const [index, eventId] of (send.eventIds ?? []).entries()) {
      const id = send.ids[index] ?? '';
      const before = known.get(id);
      if (!before) known.set(id, { eventId, send });
      else if (before.eventId !== eventId)
        violations.push({
          what: `${id} was acknowledged as event ${before.eventId}, then as ${eventId}`,
          proof: [before.send, send],
        });
    }
  }
  return violations;
}

function storedTwice({ events }: History): Violation[] {
  const bySentId = new Map<string, StoredEvent[]>();
  for (const event of events)
    if (event.sentId !== undefined) bySentId.set(event.sentId, [...(bySentId.get(event.sentId) ?? []), event]);
  return [...bySentId].flatMap(([id, proof]) =>
    proof.length === 1 ? [] : [{ what: `${id} is stored as ${proof.length} events`, proof }],
  );
}

function ranTwice({ starts, reruns }: History): Violation[] {
  const firstOfRun = new Map<string, Map<string, Execution>>();
  for (const start of starts) {
    if (reruns.has(start.runId)) continue;
    for (const id of start.sentIds) {
      const what = `${start.functionId} for ${id}`;
      const runs = firstOfRun.get(what) ?? new Map<string, Execution>();
      if (!runs.has(start.runId)) runs.set(start.runId, start);
      firstOfRun.set(what, runs);
    }
  }
  return [...firstOfRun].flatMap(([what, runs]) =>
    runs.size === 1 ? [] : [{ what: `${runs.size} runs of ${what}`, proof: [...runs.values()] }],
  );
}
