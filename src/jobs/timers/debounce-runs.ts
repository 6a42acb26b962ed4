/** The runs of fired debounces. */
import type { PartitionedIds } from '../../model/partitions/partitioned-ids.ts';
import { runIdOf } from '../../model/runs/run.ts';
import type { Events } from '../../store/events/events.ts';
import type { FiredDebounce } from '../../store/flow-control/debounces.ts';
import type { GroupRuns } from './event-groups.ts';

/** @param events includes archived events */
export function debounceRuns(
  ids: PartitionedIds,
  events: Pick<Events, 'envelopes'>,
): GroupRuns<'debounce', FiredDebounce> {
  return {
    option: 'debounce',
    withoutOption: { periodMs: 0 },
    async proposalsOf(env, fn, fired) {
      const eventIds = fired.map(({ id }) => id);
      const found = await events.envelopes(env, eventIds);
      return [...found.values()].map((event) => {
        const id = runIdOf(ids, event.internalId, fn.id);
        return { id, fn, event, dueAt: event.ts, cause: 'event', repeated: true };
      });
    },
    /** The run into which the events were debounced is known only now. */
    decisionsOf: (env, { id: functionId }, fired) =>
      fired.flatMap(({ id, replaced }) => {
        const runId = runIdOf(ids, id, functionId);
        return replaced.map((eventId) => ({ env, eventId, functionId, reason: 'debounced', runId }));
      }),
  };
}
