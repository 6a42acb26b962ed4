/** Starts the functions that a run has deferred until its end: each is triggered by an event of the service. */
import { FUNCTION_DEFERRED } from '../../../model/events/event.ts';
import type { PartitionedIds } from '../../../model/partitions/partitioned-ids.ts';
import type { Run } from '../../../model/runs/run.ts';
import { chunksOf } from '../../../model/values/chunks.ts';
import { Composed } from '../../../model/values/composed.ts';
import type { DeferredFunction, Defers } from '../../../store/runs/defers.ts';
import type { Acceptor } from '../../acceptance/acceptor.ts';

const SENT_AT_ONCE = 50;

export class DeferredFunctions extends Composed<{ ids: PartitionedIds; defers: Defers; acceptor: Acceptor }> {
  /** Idempotent: event IDs are derived from the run.
   *  @returns number of functions that the run has deferred, including aborted ones */
  async start(run: Run): Promise<number> {
    const all = [...(await this.deps.defers.all(run.env, run.id))];
    for (const some of chunksOf(all, SENT_AT_ONCE)) {
      await Promise.all(some.map(([id, deferred]) => deferred && this.#send(run, id, deferred)));
    }
    return all.length;
  }

  async #send({ env, id, functionId, requestId }: Run, deferId: string, deferred: DeferredFunction): Promise<void> {
    const provenance = { fn_slug: deferred.functionId, parent_fn_slug: functionId, parent_run_id: id };
    const event = { name: FUNCTION_DEFERRED, data: { ...deferred.input, _inngest: provenance }, meta: deferred.meta };
    await this.deps.acceptor.acceptWithId(event, this.deps.ids.derivedEvent(id, 'defer', deferId), {
      env,
      source: 'service',
      requestId,
      receivedAt: Date.now(),
    });
  }
}
