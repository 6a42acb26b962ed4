/** Gateway of a web process: holds the WebSockets of apps that connect (docs/connect.md). Life cycle: `start`, `drain` when the process
 *  shuts down, `close`. */
import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { duty } from '../../duties/duty.ts';
import { ServiceError } from '../../errors.ts';
import { SUBPROTOCOLS } from '../../functions/connect/formats.ts';
import type { Connection } from '../../model/apps/connection.ts';
import { machineTime } from '../../model/values/clock.ts';
import { Composed } from '../../model/values/composed.ts';
import type { ConnectChannels } from '../../store/connect/channels.ts';
import type { ConnectCalls, GatewayMessage } from '../../store/connect/connect-calls.ts';
import { RENEW_MS } from '../../store/connect/connections.ts';
import { clientAddress } from '../http/incoming-request.ts';
import type { Context } from '../http/router.ts';
import type { WebSocket, WebSockets } from '../http/web-sockets.ts';
import type { CheckpointFramesDeps } from './checkpoint-frames.ts';
import { AUTHENTICATION_FAILED, closeSoon, GATEWAY_CLOSING, HANDSHAKE_TIMEOUT, INTERNAL_ERROR } from './close.ts';
import { GatewayConnection } from './gateway-connection.ts';
import { accept, confirm, type FirstMessage, greet, type HandshakeDeps } from './handshake.ts';
import { Handshakes } from './handshakes.ts';
import { FRAME_MAX_BYTES, HANDSHAKE_MAX_BYTES, HANDSHAKES } from './limits.ts';

export const GATEWAY_PATH = '/v0/connect';
const HANDSHAKE_CHECK_MS = 100;
const CLOSE_CHECK_MS = 50;
/** Time for instances to open another connection, during which their current one can still deliver the end of a call. */
const IDLE_DRAIN_MS = 3_000;
/** Time for instances to notice that their idle HTTP connections were closed: starting a connection over one of them would fail. */
const IDLE_CLOSED_MS = 250;

export interface GatewayDeps extends HandshakeDeps, CheckpointFramesDeps {
  calls: ConnectCalls;
  channels: ConnectChannels;
  leaseMs: number;
  webSockets: WebSockets;
  /** The environment, or the set of all branches. */
  ownerOf: (env: string) => string;
  /** Whether the environment exists and is not archived; others have no connections. */
  isLive: (env: string) => boolean;
}

export const connectionRenewal = duty<{ gateway: Gateway }>({
  name: 'connections',
  about: 'Renews connections of apps, and closes silent or revoked ones',
  scope: 'process',
  everyMs: RENEW_MS,
  rounds:
    ({ gateway }) =>
    () =>
      gateway.renew(),
});

export class Gateway extends Composed<GatewayDeps> {
  readonly #connections = new Map<string, GatewayConnection>();
  readonly #handshakes = new Handshakes<WebSocket>(HANDSHAKES);
  readonly #accept = this.deps.webSockets.endpoint({
    maxMessageBytes: FRAME_MAX_BYTES,
    protocols: SUBPROTOCOLS,
    // `drain` notifies the instances.
    onShutdown: () => undefined,
  });
  #stops: (() => unknown)[] = [];
  #isDraining = false;

  get id(): string {
    return this.deps.gatewayId;
  }

  get connectionCount(): number {
    return this.#connections.size;
  }

  /** Whether the process is shutting down, so that apps must connect to another one. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  start(): void {
    const check = setInterval(() => this.#endOverdueHandshakes(), HANDSHAKE_CHECK_MS);
    this.#stops = [
      () => clearInterval(check),
      this.deps.channels.onCalls(this.id, (message) => void this.#pass(message)),
    ];
  }

  /** Stops accepting connections. */
  refuseConnections(): void {
    this.#isDraining = true;
  }

  /** Asks all instances to connect elsewhere. Where they cannot, because every web process shuts down, it closes idle connections after
   *  IDLE_DRAIN_MS, and all others after `graceMs`. */
  async drain(graceMs: number): Promise<void> {
    this.#isDraining = true;
    const until = machineTime() + graceMs;
    const all = [...this.#connections.values()];
    // The records go first, so that workers no longer choose these connections.
    await Promise.allSettled(all.map(({ record }) => this.deps.connections.close(record)));
    await wait(IDLE_CLOSED_MS);
    for (const connection of all) connection.drain();
    for (const socket of this.#handshakes.all) closeSoon(socket, GATEWAY_CLOSING);
    const idleFrom = machineTime() + IDLE_DRAIN_MS;
    while (this.#connections.size > 0 && machineTime() < until) {
      await wait(CLOSE_CHECK_MS);
      if (machineTime() < idleFrom) continue;
      for (const connection of this.#connections.values()) if (connection.isIdle) connection.close(GATEWAY_CLOSING);
    }
    for (const connection of this.#connections.values()) connection.close(GATEWAY_CLOSING);
  }

  /** Call after the HTTP server has closed, whose end closes remaining connections. */
  async close(): Promise<void> {
    await Promise.all(this.#stops.map((stop) => stop()));
    this.#stops = [];
  }

  /** Opens the WebSocket of a request.
   *  @throws ServiceError connect_gateway_closing, overloaded, upgrade_required, input_invalid */
  async open(ctx: Context): Promise<void> {
    if (this.#isDraining) throw gatewayClosing();
    const { socket } = ctx.req;
    const webSocket = await this.#accept(ctx);
    webSocket.once('close', () => this.#handshakes.end(webSocket));
    this.#giveWay(this.#handshakes.begin(webSocket, clientAddress(ctx), machineTime()));
    void this.#open(webSocket, socket);
  }

  async #open(webSocket: WebSocket, socket: Socket): Promise<void> {
    const { log, leaseMs, calls, callCheckpoints, connections } = this.deps;
    const first = await this.#greet(webSocket, socket);
    const record = await accept(webSocket, first, this.deps, (env) => {
      this.deps.webSockets.countFor(this.deps.ownerOf(env), webSocket);
      this.#handshakes.authenticate(webSocket);
    });
    if (!record) {
      webSocket.resume();
      return;
    }
    if (webSocket.readyState !== webSocket.OPEN) return;
    const onStatus = ({ record }: GatewayConnection) => void this.#store(record);
    const connection = new GatewayConnection(record, webSocket, { calls, callCheckpoints, leaseMs, onStatus, log });
    this.#connections.set(record.id, connection);
    webSocket.once('close', () => {
      this.#connections.delete(record.id);
      connections.close(record).catch(() => undefined);
    });
    this.#handshakes.end(webSocket);
    if (!(await this.#store(record))) return connection.close(INTERNAL_ERROR);
    confirm(webSocket, leaseMs);
    webSocket.resume();
    log.info({ connection: record.id, env: record.env, apps: record.apps.map(({ name }) => name) }, 'app connected');
    if (this.#isDraining) connection.drain();
  }

  /** @returns false: Redis is down, and the next renewal stores the record */
  async #store(record: Connection): Promise<boolean> {
    const { connections, log } = this.deps;
    try {
      if (this.#isDraining) return true;
      await this.#renewAll([record]);
      if (record.status === 'ready') await connections.announce(record);
      return true;
    } catch (error) {
      log.warn({ connection: record.id, err: (error as Error).message }, 'a connection was not stored');
      return false;
    }
  }

  async #pass(message: GatewayMessage): Promise<void> {
    const connection = this.#connections.get(message.connectionId);
    try {
      await (connection ? connection.take(message) : this.deps.calls.refuse(message));
    } catch (error) {
      this.deps.log.debug({ call: message.callId, err: (error as Error).message }, 'a call was not passed on');
    }
  }

  async renew(): Promise<void> {
    for (const connection of this.#connections.values()) {
      const isWanted = this.deps.isLive(connection.record.env);
      if (connection.isSilent || !isWanted) connection.close(GATEWAY_CLOSING);
    }
    await this.#endRevoked();
    if (!this.#isDraining) await this.#renewAll([...this.#connections.values()].map(({ record }) => record));
  }

  /** Closes connections whose signing key is no longer valid. Instances with the new key connect again. */
  async #endRevoked(): Promise<void> {
    const check = async (connection: GatewayConnection) => {
      const { id, env, keyFingerprint } = connection.record;
      if (await this.deps.connectionKeys.isValid(env, keyFingerprint)) return;
      this.deps.log.info({ connection: id, env }, 'closed a connection whose signing key was rotated');
      connection.close(AUTHENTICATION_FAILED);
    };
    await Promise.all([...this.#connections.values()].map(check));
  }

  /** Closes connections that somebody has ended. Their instances connect again. */
  async #renewAll(records: readonly Connection[]): Promise<void> {
    for (const id of await this.deps.connections.renew(records)) this.#connections.get(id)?.close(GATEWAY_CLOSING);
  }

  /** @returns the first message. A connection that sends too much before it is terminated immediately */
  async #greet(webSocket: WebSocket, socket: Socket): Promise<FirstMessage> {
    let bytes = 0;
    const count = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > HANDSHAKE_MAX_BYTES) webSocket.terminate();
      this.#giveWay(this.#handshakes.receive(webSocket, chunk.length));
    };
    socket.on('data', count);
    const first = await greet(webSocket);
    socket.off('data', count);
    this.#handshakes.greeted(webSocket);
    return first;
  }

  #giveWay(evicted: WebSocket | undefined): void {
    if (evicted) closeSoon(evicted, HANDSHAKE_TIMEOUT);
  }

  #endOverdueHandshakes(): void {
    for (const webSocket of this.#handshakes.takeOverdue(machineTime())) closeSoon(webSocket, HANDSHAKE_TIMEOUT);
  }
}

export function gatewayClosing(): ServiceError {
  return new ServiceError('connect_gateway_closing', { detail: 'connect again', retryAfterSeconds: 1 });
}
