/** Requests of steps until they have their response, encrypted: they hold keys and tokens of the app's users. Nothing else in Redis has any part of
 *  them but their origin. */
import type { Sealer } from '../../model/auth/seal.ts';
import type { StepRequest } from '../../model/requests/step-request.ts';
import { MAX_STATE_BYTES } from '../../model/runs/memo.ts';
import type { Keyspace } from '../redis/keyspace.ts';
import type { ScriptedRedis } from '../redis/scripts.ts';

export class SealedRequests {
  readonly #redis: ScriptedRedis;
  readonly #keys: Keyspace;
  readonly #sealer: Sealer;

  constructor(redis: ScriptedRedis, keys: Keyspace, sealer: Sealer) {
    this.#redis = redis;
    this.#keys = keys;
    this.#sealer = sealer;
  }

  /** The first request of a step stands. `bytes`: the run's requests and memos are too large together. */
  async add(env: string, runId: string, stepId: string, request: StepRequest): Promise<'stored' | 'ended' | 'bytes'> {
    const sealed = this.#sealer.seal(JSON.stringify(request), locationOf(env, runId, stepId));
    const reply = await this.#redis.storeRequest(this.#keys.of(runId).run(env, runId), stepId, sealed, MAX_STATE_BYTES);
    return reply as 'stored' | 'ended' | 'bytes';
  }

  /** undefined: it has its response, or its run has ended.
   *  @throws SealError when SECRET_KEY has changed since */
  async read(env: string, runId: string, stepId: string): Promise<StepRequest | undefined> {
    const sealed = await this.#redis.hget(this.#keys.of(runId).requests(env, runId), stepId);
    if (sealed === null) return undefined;
    return JSON.parse(this.#sealer.open(sealed, locationOf(env, runId, stepId))) as StepRequest;
  }

  async remove(env: string, runId: string, stepId: string): Promise<void> {
    await this.#redis.removeRequest(this.#keys.of(runId).run(env, runId), stepId);
  }
}

function locationOf(env: string, runId: string, stepId: string): string {
  return `request/${env}/${runId}/${stepId}`;
}
