/** The runs of closed batches. */

import type { AppFunction } from '../../model/apps/app.ts';
import type { PartitionedIds } from '../../model/partitions/partitioned-ids.ts';
import { batchRunIdOf } from '../../model/runs/run.ts';
import { Composed } from '../../model/values/composed.ts';
import type { ClosedBatch } from '../../store/flow-control/batches.ts';
import type { Store } from '../../store/store.ts';
import type { RunProposal } from '../flow-control/run-proposal.ts';
import type { GroupRuns } from './event-groups.ts';

export class BatchRuns
  extends Composed<{
    ids: PartitionedIds;
    /** Includes archived events. */
    events: Pick<Store['events'], 'envelopes'>;
    runLists: Pick<Store['runLists'], 'briefsByEvent'>;
  }>
  implements GroupRuns<'batch', ClosedBatch>
{
  readonly option = 'batch';
  /** Remaining batches are not split. */
  readonly withoutOption = { maxSize: 1_000_000, timeoutMs: 0 };

  async proposalsOf(env: string, fn: AppFunction, closed: readonly ClosedBatch[]): Promise<RunProposal[]> {
    const doubled = await this.#doubled(env, fn, closed);
    const batches = closed
      .map((batch) => ({ ...batch, eventIds: batch.eventIds.filter((id) => !doubled.has(id)) }))
      .filter(({ eventIds }) => eventIds.length > 0);
    const firsts = await this.deps.events.envelopes(
      env,
      batches.map(({ eventIds }) => eventIds[0] as string),
    );
    const proposals: RunProposal[] = [];
    for (const { id, dueAt, eventIds } of batches) {
      const event = firsts.get(eventIds[0] as string) ?? (await this.#firstStored(env, eventIds));
      if (!event) continue;
      const runId = batchRunIdOf(this.deps.ids, id, fn.id);
      // The run is in the partition of its batch's first event, even if that event is gone.
      const named = { ...event, internalId: id };
      proposals.push({ id: runId, fn, event: named, dueAt, cause: 'event', batch: eventIds, repeated: true });
    }
    return proposals;
  }

  /** Events already in another batch: an ingest job added them again, unaware of an earlier try. */
  async #doubled(env: string, fn: AppFunction, closed: readonly ClosedBatch[]): Promise<Set<string>> {
    const doubtful = closed.flatMap(({ id, doubtful }) => doubtful.map((eventId) => ({ eventId, id })));
    const runs = await this.deps.runLists.briefsByEvent(
      env,
      doubtful.map(({ eventId }) => eventId),
    );
    const doubled = doubtful.filter(({ id }, i) => {
      return runs[i]?.some((run) => run.functionId === fn.id && run.id !== batchRunIdOf(this.deps.ids, id, fn.id));
    });
    return new Set(doubled.map(({ eventId }) => eventId));
  }

  async #firstStored(env: string, eventIds: readonly string[]) {
    for (const id of eventIds) {
      const event = (await this.deps.events.envelopes(env, [id])).get(id);
      if (event) return event;
    }
    return undefined;
  }
}
