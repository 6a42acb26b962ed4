/** Connections that receive realtime messages in this process, by WebSocket or server-sent events. A connection that reads too slowly is
 *  closed; environments have separate limits. */
import { ServiceError } from '../../errors.ts';
import { ConcurrencyLimits } from '../../model/capacity/concurrency-limits.ts';
import { type Environment, ownerOf } from '../../model/environment.ts';
import type { Subscription, VerifiedSubscription } from '../../model/realtime/subscription-token.ts';
import { Composed } from '../../model/values/composed.ts';
import { inTime } from '../../model/values/in-time.ts';
import type { Environments } from '../../store/environments/environments.ts';
import type { RealtimeFeed } from '../../store/realtime/channels.ts';
import { unavailable } from '../../store/redis/connection/connection.ts';

/** Interval at which the existence of environments is checked. */
const RECHECK_MS = 5_000;
/** Time for Redis to confirm a subscription. */
const SUBSCRIBE_MS = 2_000;
const RETRY_AFTER_SECONDS = 5;
/** Minimum per token, which otherwise gets a tenth of an environment's connections. */
const TOKENS_MIN = 10;

/** The other end of a connection. */
export interface Receiver {
  /** Must not block or throw. */
  receive(topic: string, text: string): void;
  end(): void;
}

/** Announcements without a publisher: the ends of runs. */
export interface Announcements {
  /** @returns a function that ends the announcements */
  follow(subscription: Subscription, receiver: Receiver): () => void;
}

export class RealtimeSubscribers extends Composed<{
  feed: RealtimeFeed;
  environments: Environments;
  announcements: Announcements;
  /** Maximum number of connections of an environment, or of all branches together. */
  max: number;
}> {
  readonly #receivers = new Map<Receiver, Environment>();
  readonly #limits = new ConcurrencyLimits();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  /** Resolves when no later message can be missed.
   *  @returns a function that ends the subscription; call it once the connection is closed
   *  @throws ServiceError overloaded, too_many_connections, unavailable, environment_unknown */
  async join(subscription: VerifiedSubscription, receiver: Receiver): Promise<() => void> {
    const { feed, environments, announcements } = this.deps;
    const { env, createdAt, topics } = subscription;
    const environment = presentOf(env, environments);
    if (!environment || (createdAt !== undefined && createdAt !== environment.createdAt))
      throw new ServiceError('environment_unknown', { detail: 'it was deleted' });
    if (this.#closed) {
      throw new ServiceError('overloaded', {
        detail: 'the process shuts down',
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
    const endCount = this.#count(environment, subscription.tokenId);
    this.#receivers.set(receiver, environment);
    this.#timer ??= setInterval(() => this.#recheck(), RECHECK_MS).unref();
    const ends: (() => void)[] = [];
    const leave = () => {
      for (const end of ends.splice(0)) end();
      if (this.#receivers.delete(receiver)) endCount();
    };
    const subscribing = [...topics].map(async ([channel, names]) => {
      const end = await feed.subscribe(env, channel, (topic, text) => {
        if (names.has(topic)) receiver.receive(topic, text);
      });
      // The subscriber may have left in the meantime.
      if (this.#receivers.has(receiver)) ends.push(end);
      else end();
    });
    try {
      await inTime(Promise.all(subscribing), SUBSCRIBE_MS, () => unavailable('Redis did not answer in time'));
    } catch (error) {
      leave();
      throw error;
    }
    ends.push(announcements.follow(subscription, receiver));
    return leave;
  }

  /** Ends all connections, and accepts no more. */
  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
    for (const receiver of this.#receivers.keys()) receiver.end();
  }

  /** @returns a function that uncounts it
   *  @throws ServiceError overloaded, too_many_connections */
  #count(environment: Environment, tokenId: string): () => void {
    const { max } = this.deps;
    const ofTokenMax = Math.ceil(max / TOKENS_MIN);
    const ofToken = { name: `token ${tokenId}`, max: ofTokenMax, code: 'too_many_connections' } as const;
    const ofOwner = { name: `owner ${ownerOf(environment)}`, max, code: 'overloaded' } as const;
    const counted = this.#limits.begin([ofToken, ofOwner]);
    if ('end' in counted) return counted.end;
    throw new ServiceError(counted.reached.code, {
      detail:
        counted.reached === ofToken
          ? `the token has ${ofTokenMax} realtime connections at this process; request a token for each client`
          : `the environment has ${max} realtime connections at this process, or all branches have (REALTIME_SUBSCRIBERS_MAX)`,
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }

  #recheck(): void {
    for (const [receiver, { name, createdAt }] of this.#receivers) {
      if (presentOf(name, this.deps.environments)?.createdAt !== createdAt) receiver.end();
    }
  }
}

function presentOf(env: string, environments: Environments): Environment | undefined {
  const environment = environments.find(env);
  return environment?.deletingAt === undefined ? environment : undefined;
}
