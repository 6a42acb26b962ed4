/** Requests of steps, encrypted until their response arrives: they contain keys and tokens of the app's users. Apart from its origin, no
 *  part of a request is stored elsewhere in Redis. */
import type { Sealer } from '../../model/auth/seal.ts';
import type { StepRequest } from '../../model/requests/step-request.ts';
import { MAX_STATE_BYTES } from '../../model/runs/memo.ts';
import type { ScriptedRedis } from '../redis/connection/scripts.ts';
import { Repository } from '../redis/repository.ts';

export class SealedRequests extends Repository<ScriptedRedis, { sealer: Sealer }> {
  /** The first request of a step is kept. `bytes`: the run's requests and memos together are too large. */
  async add(env: string, runId: string, stepId: string, request: StepRequest): Promise<'stored' | 'ended' | 'bytes'> {
    const sealed = this.deps.sealer.seal(JSON.stringify(request), locationOf(env, runId, stepId));
    const reply = await this.redis.storeRequest(this.keys.of(runId).run(env, runId), stepId, sealed, MAX_STATE_BYTES);
    return reply as 'stored' | 'ended' | 'bytes';
  }

  /** undefined: it has its response, or its run has ended.
   *  @throws SealError if SECRET_KEY has changed since */
  async read(env: string, runId: string, stepId: string): Promise<StepRequest | undefined> {
    const sealed = await this.redis.hget(this.keys.of(runId).requests(env, runId), stepId);
    if (sealed === null) return undefined;
    return JSON.parse(this.deps.sealer.open(sealed, locationOf(env, runId, stepId))) as StepRequest;
  }

  async remove(env: string, runId: string, stepId: string): Promise<void> {
    await this.redis.removeRequest(this.keys.of(runId).run(env, runId), stepId);
  }
}

function locationOf(env: string, runId: string, stepId: string): string {
  return `request/${env}/${runId}/${stepId}`;
}
