/** Realtime messages between web processes over Redis pub/sub: one Redis channel for each channel of an environment with subscribers. */
import { createHash } from 'node:crypto';
import { publish, type Subscriber } from '../redis/connection/pub-sub.ts';
import type { Keyspace } from '../redis/keyspace/keyspace.ts';
import { Repository } from '../redis/repository.ts';

/** A message is sent as the topic, a line break (which no topic contains), and the text. */
const SEPARATOR = '\n';

export type RealtimeListener = (topic: string, text: string) => void;

export class RealtimePublisher extends Repository {
  /** Resolves when Redis has forwarded the message. */
  async publish(env: string, channel: string, topic: string, text: string): Promise<void> {
    await publish(this.redis, this.keys.realtimeChannel(env, digestOf(channel)), topic + SEPARATOR + text);
  }
}

/** Receives messages of the channels with listeners in this process. */
export class RealtimeFeed {
  readonly #connection: Subscriber;
  readonly #keys: Keyspace;
  readonly #listeners = new Map<string, Set<RealtimeListener>>();

  constructor(connection: Subscriber, keys: Keyspace) {
    this.#connection = connection;
    this.#keys = keys;
    connection.on('message', (key, text) => this.#receive(key, text));
  }

  /** Resolves when no later message can be missed.
   *  @returns a function that ends the subscription */
  async subscribe(env: string, channel: string, listener: RealtimeListener): Promise<() => void> {
    const key = this.#keys.realtimeChannel(env, digestOf(channel));
    const listeners = this.#listeners.get(key) ?? new Set();
    this.#listeners.set(key, listeners.add(listener));
    const unsubscribe = () => {
      if (!listeners.delete(listener) || listeners.size > 0 || this.#listeners.get(key) !== listeners) return;
      this.#listeners.delete(key);
      this.#connection.unsubscribe(key).catch(() => undefined);
    };
    try {
      // Even if there are other listeners: their subscription may not have reached Redis yet. The connection resubscribes after a
      // reconnection.
      await this.#connection.subscribe(key);
    } catch (error) {
      unsubscribe();
      throw error;
    }
    return unsubscribe;
  }

  #receive(key: string, message: string): void {
    const listeners = this.#listeners.get(key);
    if (!listeners) return;
    const end = message.indexOf(SEPARATOR);
    const [topic, text] = [message.slice(0, end), message.slice(end + SEPARATOR.length)];
    for (const listener of listeners) listener(topic, text);
  }
}

/** Digest, because publishers choose the length of channel names. */
function digestOf(channel: string): string {
  return createHash('sha256').update(channel).digest('base64url').slice(0, 22);
}
