/** Functions that runs defer until their end (operations DeferAdd and DeferAbort). Runs with deferred functions have a field with their
 *  number, so that other runs pay nothing. */
import type { Event } from '../../model/events/event.ts';
import { MAX_STATE_BYTES, MAX_STEPS } from '../../model/runs/memo.ts';
import { Repository } from '../redis/repository.ts';

/** A function that runs after the end of the run. */
export interface DeferredFunction {
  functionId: string;
  input: Record<string, unknown>;
  /** Sessions of its event. */
  meta?: Event['meta'] | undefined;
}

/** `count`, `bytes`: the run has too many. */
export type DeferOutcome = 'stored' | 'ended' | 'count' | 'bytes';

export class Defers extends Repository {
  /** The first function under an ID is kept.
   *  @param deferred undefined: aborts the ID, even before it is added */
  async add(env: string, runId: string, id: string, deferred: DeferredFunction | undefined): Promise<DeferOutcome> {
    const text = deferred ? JSON.stringify(deferred) : '';
    const reply = await this.redis.addDefer(this.keys.of(runId).run(env, runId), id, text, MAX_STEPS, MAX_STATE_BYTES);
    return reply as DeferOutcome;
  }

  /** IDs of all functions that the run has deferred or aborted. */
  async ids(env: string, runId: string): Promise<string[]> {
    return this.redis.hkeys(this.keys.of(runId).defers(env, runId));
  }

  /** The result is keyed by ID; undefined for aborted functions. */
  async all(env: string, runId: string): Promise<Map<string, DeferredFunction | undefined>> {
    const texts = await this.redis.hgetall(this.keys.of(runId).defers(env, runId));
    return new Map(
      Object.entries(texts).map(([id, text]) => [id, text ? (JSON.parse(text) as DeferredFunction) : undefined]),
    );
  }
}
