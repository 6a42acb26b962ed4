/** Converts bulk operations that an earlier version stored under keys of its own, so that they continue. Can be removed in the release
 *  after the next. */
import { INSTALLATION, isOpen } from '../../model/bulk/bulk-operation.ts';
import { BULK_SKIP_REASONS } from '../../model/runs/bulk-action.ts';
import { type CancellationDefinition, digestOf } from '../../model/runs/cancellation.ts';
import type { Redis } from '../redis/connection/connection.ts';
import { replies } from '../redis/connection/connection.ts';
import type { Locks } from '../redis/locks.ts';
import { Repository } from '../redis/repository.ts';
import { memberOf } from '../runs/active-runs.ts';
import { WEBHOOK_REPLAY_OUTCOMES, type WebhookReplayDefinition } from '../webhooks/webhook-replay.ts';

const LOCK_MS = 30_000;
const RESULTS_AT_ONCE = 1_000;

/** An operation in the current format. */
interface Adopted {
  kind: string;
  env: string;
  id: string;
  fields: Record<string, string | number>;
  createdAt: number;
  ttlMs: number;
  /** undefined if it is not scheduled. */
  dueAt: number | undefined;
}

interface EarlierCancellation extends CancellationDefinition {
  env: string;
  pass?: { startedAt: number; position: { at: number; id: string } };
  doneAt?: number;
  cancelledRuns: number;
}

interface EarlierBulkAction {
  status: string;
  position?: object;
  portion?: object;
  waiting?: string;
  doneAt?: number;
  done: number;
  skipped: Record<string, number>;
  createdAt: number;
}

export class EarlierOperations extends Repository<Redis, { locks: Locks }> {
  /** Can be interrupted and repeated. One process at a time converts; the others continue without conversion.
   *  @param envs environments whose operations are converted */
  async adopt(envs: readonly string[]): Promise<void> {
    await this.deps.locks.withLock('earlier-bulk-operations', LOCK_MS, async () => {
      await this.#adoptWebhookReplays();
      for (const env of envs) {
        await this.#adoptReplays(env);
        await this.#adoptBulkActions(env);
        await this.#adoptCancellations(env);
      }
    });
  }

  /** Environments with running operations: during a deploy, processes of the earlier version still add some. */
  async envsInProgress(): Promise<string[]> {
    const due = ['due-replays', 'due-bulk-actions', 'due-cancellations'].map((word) =>
      this.redis.zrange(this.#earlier(word), 0, '-1'),
    );
    const members = (await Promise.all(due)).flat();
    return [...new Set(members.map((member) => member.slice(0, member.lastIndexOf('/'))))];
  }

  async #adoptReplays(env: string): Promise<void> {
    const [all, open] = [this.#earlier('replays', env), this.#earlier('open-replays', env)];
    const due = this.#earlier('due-replays');
    for (const id of await this.redis.zrange(all, 0, '-1')) {
      const key = this.#earlier('replay', env, id);
      const [fields, ttlMs, dueAt] = await Promise.all([
        this.redis.hgetall(key),
        this.redis.pttl(key),
        this.redis.zscore(due, memberOf(env, id)),
      ]);
      if (fields.definition !== undefined) {
        await this.#rename(this.#earlier('replay-portion', env, id), this.keys.bulkOperationPortion(env, 'replay', id));
        await this.#rename(
          this.#earlier('replay-active-runs', env, id),
          this.keys.bulkOperationRuns(env, 'replay', id),
        );
        const results = this.keys.bulkOperationResults(env, 'replay', id, 'all');
        await this.#rename(this.#earlier('replay-results', env, id), results);
        const { createdAt } = JSON.parse(fields.definition) as { createdAt: number };
        await this.#store({
          kind: 'replay',
          env,
          id,
          fields,
          createdAt,
          ttlMs,
          dueAt: numberOf(dueAt),
        });
      }
      const removal = this.redis.multi().del(key).srem(open, id).zrem(due, memberOf(env, id));
      replies(await removal.zrem(all, id).exec());
    }
  }

  /** Stored as fields of a hash. */
  async #adoptBulkActions(env: string): Promise<void> {
    const [all, due] = [this.#earlier('bulk-actions', env), this.#earlier('due-bulk-actions')];
    const ttlMs = await this.redis.pttl(all);
    for (const [id, text] of Object.entries(await this.redis.hgetall(all))) {
      const {
        status,
        position = null,
        portion: planned,
        waiting,
        doneAt,
        done,
        skipped,
        ...definition
      } = JSON.parse(text) as EarlierBulkAction;
      const results = this.#earlier('bulk-results', env, id);
      await this.#adoptResults(results, this.keys.bulkOperationResults(env, 'bulk-action', id, 'all'));
      const dueAt = await this.redis.zscore(due, memberOf(env, id));
      const fields = {
        definition: JSON.stringify(definition),
        status,
        portion: 0,
        position: JSON.stringify(position),
        ...(planned !== undefined && { planned: JSON.stringify(planned) }),
        ...(waiting !== undefined && { waiting }),
        ...(doneAt !== undefined && { done_at: doneAt }),
        done,
        ...Object.fromEntries(Object.entries(skipped).map(([reason, count]) => [`skipped:${reason}`, count])),
      };
      const { createdAt } = definition;
      await this.#store({
        kind: 'bulk-action',
        env,
        id,
        fields,
        createdAt,
        ttlMs,
        dueAt: numberOf(dueAt),
      });
      const removal = this.redis.multi().unlink(results).zrem(due, memberOf(env, id));
      replies(await removal.hdel(all, id).exec());
    }
  }

  /** Stored as fields of a hash. */
  async #adoptCancellations(env: string): Promise<void> {
    const [all, due] = [this.#earlier('cancellations', env), this.#earlier('due-cancellations')];
    const ttlMs = await this.redis.pttl(all);
    for (const [id, text] of Object.entries(await this.redis.hgetall(all))) {
      const { pass, doneAt, cancelledRuns, env: _, ...definition } = JSON.parse(text) as EarlierCancellation;
      const dueAt = await this.redis.zscore(due, memberOf(env, id));
      const fields = {
        definition: JSON.stringify(definition),
        digest: digestOf(definition),
        status: doneAt === undefined ? 'running' : 'done',
        portion: 0,
        position: JSON.stringify(pass ? { startedAt: pass.startedAt, ...pass.position } : null),
        ...(doneAt !== undefined && { done_at: doneAt }),
        cancelled: cancelledRuns,
      };
      const { createdAt } = definition;
      await this.#store({ kind: 'cancellation', env, id, fields, createdAt, ttlMs, dueAt: numberOf(dueAt) });
      const removal = this.redis.multi().zrem(due, memberOf(env, id));
      replies(await removal.hdel(all, id).exec());
    }
  }

  async #adoptWebhookReplays(): Promise<void> {
    const [all, active] = [this.#earlier('webhook-replays'), this.#earlier('active-webhook-replays')];
    for (const id of await this.redis.zrange(all, 0, '-1')) {
      const key = this.#earlier('webhook-replay', id);
      const [{ spec, ...stored }, ttlMs] = await Promise.all([this.redis.hgetall(key), this.redis.pttl(key)]);
      if (spec !== undefined) {
        for (const list of WEBHOOK_REPLAY_OUTCOMES) {
          const results = this.keys.bulkOperationResults(INSTALLATION, 'webhook-replay', id, list);
          await this.#rename(this.#earlier('webhook-replay-results', id, list), results);
        }
        const {
          state = '',
          position = '',
          parent,
          draft: transform,
          draftFilter,
          endedAt,
          waiting,
          ...counts
        } = stored;
        const hasDraft = transform !== undefined || draftFilter !== undefined;
        const draft = { transform, filter: draftFilter === undefined ? undefined : draftFilter || null };
        const definition = { ...(JSON.parse(spec) as WebhookReplayDefinition), ...(hasDraft && { draft }) };
        const fields = {
          definition: JSON.stringify(definition),
          status: state,
          portion: 0,
          position: JSON.stringify({ last: position, after: position }),
          planned: JSON.stringify({ parent }),
          ...(waiting && { waiting }),
          ...(endedAt !== undefined && { done_at: endedAt }),
          ...counts,
        };
        const dueAt = state === 'running' ? Date.now() : undefined;
        const { createdAt } = definition;
        await this.#store({ kind: 'webhook-replay', env: INSTALLATION, id, fields, createdAt, ttlMs, dueAt });
      }
      replies(await this.redis.multi().del(key).zrem(active, id).zrem(all, id).exec());
    }
  }

  /** Entries have the form `<number> <run ID> <re-run ID, reason, or nothing>`. */
  async #adoptResults(from: string, to: string): Promise<void> {
    await this.redis.unlink(to);
    for (let at = 0; ; at += RESULTS_AT_ONCE) {
      const texts = await this.redis.zrange(from, at, String(at + RESULTS_AT_ONCE - 1));
      if (texts.length === 0) break;
      const results = texts.map((text) => {
        const [, runId, rest = ''] = text.split(' ');
        if (rest === '') return { runId };
        return (BULK_SKIP_REASONS as readonly string[]).includes(rest)
          ? { runId, skip: rest }
          : { runId, rerunId: rest };
      });
      await this.redis.rpush(to, ...results.map((result) => JSON.stringify(result)));
    }
    const ttlMs = await this.redis.pttl(from);
    if (ttlMs > 0) await this.redis.pexpire(to, ttlMs);
  }

  #earlier(word: string, ...rest: string[]): string {
    return [this.keys.prefix, word, ...rest].join(':');
  }

  async #rename(from: string, to: string): Promise<void> {
    if ((await this.redis.exists(from)) === 1) await this.redis.rename(from, to);
  }

  async #store({ kind, env, id, fields, createdAt, ttlMs, dueAt }: Adopted): Promise<void> {
    const [all, open] = [this.keys.bulkOperations(env, kind), this.keys.openBulkOperations(env, kind)];
    const key = this.keys.bulkOperation(env, kind, id);
    const writing = this.redis
      .multi()
      .hset(key, { digest: '', ...fields })
      .pexpire(key, ttlMs)
      .zadd(all, createdAt, id);
    if (isOpen(fields as { status: 'running' })) writing.sadd(open, id);
    // Kept as long as the longest-kept operation.
    for (const key of [all, open]) writing.pexpire(key, ttlMs, 'NX').pexpire(key, ttlMs, 'GT');
    if (dueAt !== undefined) writing.zadd(this.keys.dueBulkOperations(kind), dueAt, memberOf(env, id));
    replies(await writing.exec());
  }
}

function numberOf(score: string | null): number | undefined {
  return score === null ? undefined : Number(score);
}
