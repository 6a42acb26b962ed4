/** Follows the request logs of webhooks: live updates say that there are new requests, and the logs contain them. So no request is missed while a
 *  connection is down. */
import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient, Json } from '../api-client.ts';
import { CliError, EXIT } from '../exit-codes.ts';
import { liveUpdates } from '../live-updates.ts';

/** A live update may be lost. */
const LOOK_AGAIN_MS = 5_000;
/** A request enters the log after its response, which a slow transform may delay: it may be older than others that are there already. */
const OVERLAP_MS = 60_000;
const RETRY_MS = 1_000;
const RETRY_MAX_MS = 15_000;
const TOO_MANY = 429;
/** Requests of a webhook that are forwarded at most after a pause. */
const BACKLOG_MAX = 10_000;

export interface FollowOptions {
  api: ApiClient;
  webhookIds: readonly string[];
  /** Unix milliseconds: only requests that were received since. */
  sinceMs: number;
  /** Whether to include re-runs and requests that failed verification. */
  all: boolean;
  /** For people. */
  note: (text: string) => void;
  signal: AbortSignal;
}

/** Calls back once for each request, the oldest first. Returns when the signal is aborted. */
export async function followRequests(
  options: FollowOptions,
  onRequest: (webhookId: string, requestId: string) => Promise<void>,
): Promise<void> {
  const { webhookIds, signal } = options;
  const logs = webhookIds.map((webhookId) => new FollowedLog(webhookId, options));
  const updates = new Updates();
  const all = [followUpdates(options, updates), ...logs.map((log) => follow(log))];
  await Promise.all(all).catch((error) => {
    if (!signal.aborted) throw error;
  });

  async function follow(log: FollowedLog): Promise<void> {
    let tries = 0;
    while (!signal.aborted) {
      // Read before the log, so that requests added in the meantime are reported.
      const { count } = updates;
      try {
        const ids = await log.unseen();
        if (tries > 0) options.note('Connected again');
        tries = 0;
        for (const id of ids) {
          await onRequest(log.webhookId, id);
          log.markSeen(id);
        }
        await updates.after(count, LOOK_AGAIN_MS, signal);
      } catch (error) {
        if (signal.aborted || !isTransient(error)) throw error;
        if (tries === 0) options.note(`${(error as Error).message}; trying again`);
        await sleep(Math.min(RETRY_MS * 2 ** tries++, RETRY_MAX_MS), undefined, { signal });
      }
    }
  }
}

/** Reports new requests, and that updates may have been lost. While the service is down, reading the logs fails. */
async function followUpdates({ api, signal }: FollowOptions, updates: Updates): Promise<void> {
  while (!signal.aborted) {
    try {
      for await (const { kind } of liveUpdates(api, signal, () => {})) {
        if (kind === 'hello' || kind === 'webhook-requests') updates.tell();
      }
    } catch (error) {
      if (signal.aborted || !isTransient(error)) throw error;
      await sleep(RETRY_MS, undefined, { signal });
    }
  }
}

/** Number of reports so far. */
class Updates {
  readonly #emitter = new EventEmitter();
  count = 0;

  tell(): void {
    this.count++;
    this.#emitter.emit('update');
  }

  /** Resolves when there are more reports than the count, or after a while. */
  async after(count: number, ms: number, signal: AbortSignal): Promise<void> {
    if (this.count !== count) return;
    const ended = new AbortController();
    const stop = () => ended.abort();
    this.#emitter.once('update', stop);
    signal.addEventListener('abort', stop, { once: true });
    await sleep(ms, undefined, { signal: ended.signal }).catch(() => {});
    this.#emitter.off('update', stop);
    signal.removeEventListener('abort', stop);
  }
}

function isTransient(error: unknown): boolean {
  if (!(error instanceof CliError)) return false;
  return error.exitCode === EXIT.unreachable || error.answer?.status === TOO_MANY;
}

class FollowedLog {
  readonly webhookId: string;
  readonly #options: FollowOptions;
  /** IDs, with their times of receipt. */
  readonly #seen = new Map<string, number>();
  #sinceMs: number;
  readonly #times = new Map<string, number>();

  constructor(webhookId: string, options: FollowOptions) {
    this.webhookId = webhookId;
    this.#options = options;
    this.#sinceMs = options.sinceMs;
  }

  /** The oldest first. */
  async unseen(): Promise<string[]> {
    const { api, all } = this.#options;
    const query = { received_after: new Date(this.#sinceMs).toISOString() };
    const found: Json[] = await api.list(`/v1/webhooks/${this.webhookId}/requests`, query, BACKLOG_MAX);
    const fresh = found.filter(({ id }) => !this.#seen.has(id)).reverse();
    for (const { id, received_at } of fresh) this.#times.set(id, Date.parse(received_at));
    const wanted = fresh.filter((request) => all || isForwarded(request));
    for (const request of fresh) if (!wanted.includes(request)) this.markSeen(request.id);
    if (wanted.length === 0) this.#forgetOld();
    return wanted.map(({ id }) => id);
  }

  markSeen(id: string): void {
    this.#seen.set(id, this.#times.get(id) ?? Date.now());
    this.#times.delete(id);
  }

  /** Uses only the times of the log, because the clock of this machine may differ. */
  #forgetOld(): void {
    const newest = Math.max(0, ...this.#seen.values());
    this.#sinceMs = Math.max(this.#sinceMs, newest - OVERLAP_MS);
    for (const [id, receivedAt] of this.#seen) if (receivedAt < this.#sinceMs) this.#seen.delete(id);
  }
}

/** The sender of a request that failed verification is unknown; a re-run was forwarded when the request was first received. */
function isForwarded({ rerun_of, verification }: Json): boolean {
  return rerun_of === null && verification?.result !== 'failed';
}
