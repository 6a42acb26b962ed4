/** Announces the ends of runs to subscribers of `$run` on a run's own channel. Live updates report them soon but may be lost, so the runs
 *  are also read at intervals. */
import type { History } from '../../history/history.ts';
import { ID_PATTERN } from '../../model/ids.ts';
import { runMessage } from '../../model/realtime/message.ts';
import type { Subscription } from '../../model/realtime/subscription-token.ts';
import { RUN_TOPIC } from '../../model/realtime/topics.ts';
import { hasEnded } from '../../model/runs/run.ts';
import { Composed } from '../../model/values/composed.ts';
import type { Runs } from '../../store/runs/runs.ts';
import type { LiveFeed, LiveUpdate } from '../../store/telemetry/live-updates.ts';
import { presentRun } from '../views/run.ts';
import type { Announcements, Receiver } from './subscribers.ts';

const CHECK_MS = 5_000;

/** Receivers waiting for the end of each run, by its ID. */
type Waiting = Map<string, Set<Receiver>>;

export class RunEndAnnouncer
  extends Composed<{
    runs: Runs;
    history: History['runs'];
    liveFeed: LiveFeed;
  }>
  implements Announcements
{
  readonly #environments = new Map<string, { waiting: Waiting; stop: () => void }>();
  #timer: NodeJS.Timeout | undefined;

  follow({ env, topics }: Subscription, receiver: Receiver): () => void {
    const ids = [...topics].flatMap(([channel, names]) =>
      names.has(RUN_TOPIC) && ID_PATTERN.test(channel) ? [channel] : [],
    );
    for (const id of ids) this.#wait(env, id, receiver);
    return () => {
      for (const id of ids) this.#stopWaiting(env, id, [receiver]);
    };
  }

  #wait(env: string, id: string, receiver: Receiver): void {
    const { waiting } = this.#environments.get(env) ?? this.#watch(env);
    const receivers = waiting.get(id) ?? new Set();
    waiting.set(id, receivers.add(receiver));
    // The run may have ended long ago. A run that ends from now on is in Redis.
    void this.#check(env, id, this.deps.history);
  }

  #watch(env: string): { waiting: Waiting } {
    const waiting: Waiting = new Map();
    const onUpdates = (updates: LiveUpdate[]) => {
      for (const { kind, items } of updates) {
        if (kind === 'runs') for (const { id } of items) if (waiting.has(id)) void this.#check(env, id);
      }
    };
    const watched = { waiting, stop: this.deps.liveFeed.subscribe(env, onUpdates) };
    this.#environments.set(env, watched);
    this.#timer ??= setInterval(() => this.#checkAll(), CHECK_MS).unref();
    return watched;
  }

  #stopWaiting(env: string, id: string, receivers: Iterable<Receiver>): void {
    const watched = this.#environments.get(env);
    const all = watched?.waiting.get(id);
    if (!watched || !all) return;
    for (const receiver of receivers) all.delete(receiver);
    if (all.size === 0) watched.waiting.delete(id);
    if (watched.waiting.size > 0) return;
    watched.stop();
    this.#environments.delete(env);
    if (this.#environments.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #checkAll(): void {
    for (const [env, { waiting }] of this.#environments) for (const id of waiting.keys()) void this.#check(env, id);
  }

  async #check(env: string, id: string, runs: Pick<Runs, 'read'> = this.deps.runs): Promise<void> {
    // If Redis does not answer, the next check does.
    const run = await runs.read(env, id).catch(() => undefined);
    if (!run || !hasEnded(run)) return;
    const receivers = [...(this.#environments.get(env)?.waiting.get(id) ?? [])];
    if (receivers.length === 0) return;
    this.#stopWaiting(env, id, receivers);
    const { status, output, error } = presentRun(run);
    const text = runMessage(
      { channel: id, topic: RUN_TOPIC, runId: id },
      { status, output, error },
      run.endedAt ?? Date.now(),
    );
    for (const receiver of receivers) receiver.receive(RUN_TOPIC, text);
  }
}
