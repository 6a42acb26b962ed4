/** Calls that apps receive over connections: which connection has which call, until when, and the replies. A worker reserves a connection for a
 *  call and sends the call to its gateway; the gateway stores the reply. They notify each other by messages. Messages
 *  may be lost, so only stored state counts. */
import { newId } from '../../model/ids.ts';
import { replies } from '../redis/connection/connection.ts';
import { countCommand, countSubscribers, publish, publishCommand } from '../redis/connection/pub-sub.ts';
import { Repository } from '../redis/repository.ts';

/** Longer than any worker takes to notice another's death and to repeat its call. */
const CALL_TTL_MS = 300_000;
/** Larger bodies are not sent through a channel: Redis disconnects subscribers that lag behind by 32 MB. */
const MESSAGE_BODY_MAX = 65_536;

/** A call as its gateway receives it. */
export interface GatewayMessage {
  connectionId: string;
  callId: string;
  leaseId: string;
  callerId: string;
  env: string;
  app: string;
  functionId: string;
  runId: string;
  stepId: string;
  jobId: string;
  /** Trace context headers. */
  trace: Record<string, string>;
  /** undefined: the body is stored with the call. */
  body?: string | undefined;
}

export interface CallKey {
  env: string;
  callId: string;
}

export type Reservation =
  | { kind: 'assigned'; connectionId: string; gatewayId: string; leaseId: string }
  /** A connection is working on the call, or its reply is stored. */
  | { kind: 'pending' }
  /** No connection has free capacity. */
  | { kind: 'full' }
  /** No connection has the function. */
  | { kind: 'none' };

export interface ReserveOptions extends CallKey {
  app: string;
  functionId: string;
  /** The version of the app that the connection must have; undefined: any. */
  version: string | undefined;
  callerId: string;
  /** How long the connection has to acknowledge the call. */
  acknowledgeMs: number;
  /** Lease of a connection that failed to acknowledge the call. */
  replacedLease?: string | undefined;
}

export interface CallState {
  leaseId: string;
  until: number;
  acknowledged: boolean;
  hasReply: boolean;
}

export interface LeaseOptions extends CallKey {
  connectionId: string;
  leaseMs: number;
}

export class ConnectCalls extends Repository {
  async reserve(options: ReserveOptions): Promise<Reservation> {
    const { env, callId, app, functionId, version = '', callerId, acknowledgeMs, replacedLease = '' } = options;
    const keys = this.keys;
    const leaseId = newId();
    const reply = await this.redis.reserveCall(
      keys.connectCall(env, callId),
      keys.readyConnections(env, app),
      keys.connection(env, ''),
      keys.connectionCalls(env, ''),
      keys.connectFunctions(env, ''),
      keys.gateway(''),
      callId,
      app,
      functionId,
      acknowledgeMs,
      CALL_TTL_MS,
      leaseId,
      callerId,
      replacedLease,
      Math.floor(Math.random() * 1_000_000),
      countCommand(this.redis),
      version,
    );
    const [kind, connectionId = '', gatewayId = ''] = reply as [Reservation['kind'], string?, string?];
    return kind === 'assigned' ? { kind, connectionId, gatewayId, leaseId } : { kind };
  }

  /** @returns whether the gateway received it */
  async send(gatewayId: string, message: GatewayMessage & { body: string }): Promise<boolean> {
    const { env, callId, body } = message;
    const isLarge = body.length > MESSAGE_BODY_MAX;
    if (isLarge) {
      const key = this.keys.connectCall(env, callId);
      replies(await this.redis.pipeline().hset(key, 'body', body).pexpire(key, CALL_TTL_MS).exec());
    }
    const text = JSON.stringify(isLarge ? { ...message, body: undefined } : message);
    return (await publish(this.redis, this.keys.gateway(gatewayId), text)) > 0;
  }

  /** The body of a call that was too large for the message. @returns undefined: the call belongs to another connection by now */
  async body({ env, callId }: CallKey): Promise<string | undefined> {
    return (await this.redis.hget(this.keys.connectCall(env, callId), 'body')) ?? undefined;
  }

  /** @returns whether the call belongs to the connection */
  async acknowledge({ env, callId, connectionId, leaseMs }: LeaseOptions): Promise<boolean> {
    const { connectCall, connectionCalls } = this.keys;
    const args = [connectionCalls(env, ''), callId, connectionId, leaseMs, CALL_TTL_MS];
    return (await this.redis.acknowledgeCall(connectCall(env, callId), ...args)) === 1;
  }

  /** @returns false if the lease is lost */
  async extend({ env, callId, connectionId, leaseMs }: LeaseOptions, leaseId: string): Promise<boolean> {
    const { connectCall, connectionCalls } = this.keys;
    const args = [connectionCalls(env, ''), callId, connectionId, leaseMs, CALL_TTL_MS, leaseId];
    return (await this.redis.extendCall(connectCall(env, callId), ...args)) === 1;
  }

  /** Only the first reply counts. @returns whether this was the first */
  async reply({ env, callId }: CallKey, reply: Uint8Array): Promise<boolean> {
    const { connectCall, connectionCalls, connectCaller } = this.keys;
    const args = [connectionCalls(env, ''), connectCaller(''), callId, CALL_TTL_MS];
    const published = [Buffer.from(reply), publishCommand(this.redis)];
    return (await this.redis.replyToCall(connectCall(env, callId), ...args, ...published)) === 1;
  }

  /** The connection refuses the call: the caller tries another one. */
  async refuse({ callerId, callId, leaseId }: Pick<GatewayMessage, 'callerId' | 'callId' | 'leaseId'>): Promise<void> {
    await publish(this.redis, this.keys.connectCaller(callerId), `${callId} ${leaseId}`);
  }

  /** Gateways without subscribers: their processes have died or lost Redis. */
  async deadGateways(gatewayIds: readonly string[]): Promise<Set<string>> {
    const channels = gatewayIds.map((id) => this.keys.gateway(id));
    const counts = await countSubscribers(this.redis, channels);
    return new Set(gatewayIds.filter((_, i) => counts[i] === 0));
  }

  /** The states of calls; undefined for deleted calls. */
  async states(calls: readonly CallKey[]): Promise<(CallState | undefined)[]> {
    const reading = this.redis.pipeline();
    for (const { env, callId } of calls) {
      const key = this.keys.connectCall(env, callId);
      reading.hmget(key, 'lease', 'until', 'acknowledged').hexists(key, 'reply');
    }
    const results = (await reading.exec()) ?? [];
    const failed = results.find(([error]) => error);
    if (failed) throw failed[0];
    return calls.map((_, i) => {
      const [leaseId, until, acknowledged] = (results[2 * i]?.[1] ?? []) as (string | null)[];
      if (!leaseId) return undefined;
      return {
        leaseId,
        until: Number(until),
        acknowledged: Boolean(acknowledged),
        hasReply: results[2 * i + 1]?.[1] === 1,
      };
    });
  }

  /** The reply; undefined if there is no reply. */
  async readReply({ env, callId }: CallKey): Promise<Buffer | undefined> {
    return (await this.redis.hgetBuffer(this.keys.connectCall(env, callId), 'reply')) ?? undefined;
  }

  /** Called after the reply has taken effect. Later replies are ignored. */
  async finish({ env, callId }: CallKey): Promise<void> {
    await this.redis.finishCall(this.keys.connectCall(env, callId), this.keys.connectionCalls(env, ''), callId);
  }

  /** Ends a call whose lease has expired. @returns false: it has a reply, or a new lease */
  async lose({ env, callId }: CallKey): Promise<boolean> {
    const args = [this.keys.connectionCalls(env, ''), callId];
    return (await this.redis.loseCall(this.keys.connectCall(env, callId), ...args)) === 1;
  }
}
