/** Live connections of apps, and which of them accept calls. A gateway renews its connections every few seconds; connections of a dead
 *  gateway expire. */
import { createHash } from 'node:crypto';
import type { Connection } from '../../model/apps/connection.ts';
import { chunksOf } from '../../model/values/chunks.ts';
import { replies } from '../redis/connection/connection.ts';
import { publish } from '../redis/connection/pub-sub.ts';
import { Repository } from '../redis/repository.ts';

export const RENEW_MS = 5_000;
const TTL_MS = 3 * RENEW_MS;
/** An instance that reconnects within this time does not register again. */
const REMEMBERED_MS = 60_000;
const RENEWED_AT_ONCE = 200;

/** Says that an app has a connection that accepts calls. */
export interface ConnectionChange {
  env: string;
  app: string;
  concurrency: number;
}

export class Connections extends Repository {
  /** Stores or renews connections.
   *  @returns IDs of the connections that a user has ended */
  async renew(connections: readonly Connection[]): Promise<string[]> {
    const ended: string[] = [];
    for (const portion of chunksOf(connections, RENEWED_AT_ONCE)) {
      const writing = this.redis.pipeline();
      for (const connection of portion) writing.renewConnection(...this.#renewal(connection));
      const renewed = replies<number>(await writing.exec());
      ended.push(...portion.filter((_, i) => renewed[i] === 0).map(({ id }) => id));
    }
    return ended;
  }

  #renewal(connection: Connection): [string, ...(string | number)[]] {
    const { env, id, gatewayId, concurrency, apps, status, instanceId } = connection;
    const keys = this.keys;
    return [
      keys.connection(env, id),
      keys.connections(env),
      id,
      TTL_MS,
      REMEMBERED_MS,
      status === 'ready' ? 1 : 0,
      gatewayId,
      concurrency,
      JSON.stringify(connection),
      ...apps.flatMap(({ name, functionsHash, version }) => [
        name,
        keys.readyConnections(env, name),
        functionsHash,
        keys.connectFunctions(env, functionsHash),
        keys.connectInstance(env, instanceHash(instanceId, functionsHash)),
        version ?? '',
      ]),
    ];
  }

  /** Notifies workers that may have calls waiting for the connection. */
  async announce({ env, apps, concurrency }: Connection): Promise<void> {
    for (const { name: app } of apps) {
      await publish(
        this.redis,
        this.keys.connectionChanges,
        JSON.stringify({ env, app, concurrency } satisfies ConnectionChange),
      );
    }
  }

  async close({ env, id, apps }: Pick<Connection, 'env' | 'id' | 'apps'>): Promise<void> {
    const ready = apps.map(({ name }) => this.keys.readyConnections(env, name));
    await this.redis.closeConnection(this.keys.connection(env, id), this.keys.connections(env), id, ...ready);
  }

  /** Stops a connection from accepting calls immediately; its gateway closes it at the next renewal.
   *  @param app the app that it must belong to
   *  @returns false if there is no such connection */
  async end(env: string, app: string, id: string): Promise<boolean> {
    const text = await this.redis.hget(this.keys.connection(env, id), 'json');
    const apps = text === null ? [] : (JSON.parse(text) as Connection).apps;
    if (!apps.some(({ name }) => name === app)) return false;
    const ready = apps.map(({ name }) => this.keys.readyConnections(env, name));
    return (await this.redis.endConnection(this.keys.connection(env, id), id, ...ready)) === 1;
  }

  async addFunctions(env: string, functionsHash: string, functionIds: readonly string[]): Promise<void> {
    if (functionIds.length === 0) return;
    const key = this.keys.connectFunctions(env, functionsHash);
    replies(
      await this.redis
        .multi()
        .sadd(key, ...functionIds)
        .pexpire(key, REMEMBERED_MS)
        .exec(),
    );
  }

  /** Whether the instance had a connection with these functions within the last minute. It then reconnects without registering, because
   *  other instances may have registered newer functions since. */
  async isReconnection(env: string, instanceId: string, functionsHash: string): Promise<boolean> {
    return (await this.redis.exists(this.keys.connectInstance(env, instanceHash(instanceId, functionsHash)))) === 1;
  }

  async count(env: string, nowMs: number): Promise<number> {
    return this.redis.zcount(this.keys.connections(env), nowMs, '+inf');
  }

  /** Reserves a place for a connection in its environment, until it is stored or closed.
   *  @returns false if the maximum number is reached */
  async reserve({ env, id }: Pick<Connection, 'env' | 'id'>, most: number): Promise<boolean> {
    return (await this.redis.reserveConnection(this.keys.connections(env), id, TTL_MS, most)) === 1;
  }

  /** The app's connections, longest connected first, with the number of calls that each is working on. */
  async ofApp(env: string, app: string, nowMs: number): Promise<{ connection: Connection; calls: number }[]> {
    const keys = this.keys;
    const ids = await this.redis.zrangebyscore(keys.connections(env), nowMs, '+inf');
    if (ids.length === 0) return [];
    const reading = this.redis.pipeline();
    for (const id of ids)
      reading.hget(keys.connection(env, id), 'json').zcount(keys.connectionCalls(env, id), nowMs, '+inf');
    const read = replies<string | number | null>(await reading.exec());
    return ids
      .flatMap((_, i) => {
        const text = read[2 * i];
        if (typeof text !== 'string') return [];
        return [{ connection: JSON.parse(text) as Connection, calls: Number(read[2 * i + 1]) }];
      })
      .filter(({ connection }) => connection.apps.some(({ name }) => name === app))
      .sort((a, b) => a.connection.connectedAt - b.connection.connectedAt);
  }
}

function instanceHash(instanceId: string, functionsHash: string): string {
  return createHash('sha256').update(`${functionsHash}\n${instanceId}`).digest('base64url').slice(0, 22);
}
