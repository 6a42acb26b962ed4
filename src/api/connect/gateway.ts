/** The gateway of a web process: holds the WebSockets of apps that connect (docs/connect.md). Life cycle: `attach` to the HTTP server, `drain` when
 *  the process shuts down, `close`. */
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { type WebSocket, WebSocketServer } from 'ws';
import { SUBPROTOCOL } from '../../functions/connect/messages.ts';
import type { Connection } from '../../model/apps/connection.ts';
import type { ConnectChannels } from '../../store/connect/channels.ts';
import type { ConnectCalls, GatewayMessage } from '../../store/connect/connect-calls.ts';
import { RENEW_MS } from '../../store/connect/connections.ts';
import { closeSoon, GATEWAY_CLOSING, HANDSHAKE_TIMEOUT, INTERNAL_ERROR } from './close.ts';
import { GatewayConnection } from './gateway-connection.ts';
import { accept, confirm, greet, type HandshakeDeps } from './handshake.ts';
import { FRAME_MAX_BYTES, HANDSHAKE_MAX_BYTES, HANDSHAKE_MS, HANDSHAKES_MAX } from './limits.ts';

export const GATEWAY_PATH = '/v0/connect';
const HANDSHAKE_CHECK_MS = 100;
const CLOSE_CHECK_MS = 50;

export interface GatewayDeps extends HandshakeDeps {
  calls: ConnectCalls;
  channels: ConnectChannels;
  leaseMs: number;
  /** Whether the environment is there, and not archived: others have no connections. */
  isLive: (env: string) => boolean;
}

export class Gateway {
  readonly #deps: GatewayDeps;
  readonly #connections = new Map<string, GatewayConnection>();
  /** WebSockets that have not authenticated yet, with what ends them. */
  readonly #handshakes = new Map<WebSocket, { socket: Duplex & { bytesRead?: number }; until: number }>();
  readonly #server = new WebSocketServer({
    noServer: true,
    maxPayload: FRAME_MAX_BYTES,
    perMessageDeflate: false,
    clientTracking: false,
    handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
  });
  #stops: (() => unknown)[] = [];
  #isDraining = false;

  constructor(deps: GatewayDeps) {
    this.#deps = deps;
  }

  get id(): string {
    return this.#deps.gatewayId;
  }

  get connectionCount(): number {
    return this.#connections.size;
  }

  /** The process shuts down: apps must connect to another one. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  attach(server: Server): void {
    server.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head));
    const renewal = setInterval(() => void this.#renew(), RENEW_MS);
    const check = setInterval(() => this.#endOverdueHandshakes(), HANDSHAKE_CHECK_MS);
    this.#stops = [
      () => clearInterval(renewal),
      () => clearInterval(check),
      this.#deps.channels.onCalls(this.id, (message) => void this.#pass(message)),
    ];
  }

  /** Takes no new connections. */
  refuseConnections(): void {
    this.#isDraining = true;
  }

  /** Asks all instances to connect elsewhere. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    const all = [...this.#connections.values()];
    // First, so that no worker chooses them any more.
    await Promise.allSettled(all.map(({ record }) => this.#deps.connections.close(record)));
    for (const connection of all) connection.drain();
  }

  /** Waits until the instances have left, or `graceMs` have passed. */
  async close(graceMs: number): Promise<void> {
    const until = Date.now() + graceMs;
    while (this.#connections.size > 0 && Date.now() < until) await wait(CLOSE_CHECK_MS);
    for (const socket of this.#handshakes.keys()) closeSoon(socket, GATEWAY_CLOSING);
    for (const connection of this.#connections.values()) connection.close(GATEWAY_CLOSING);
    await Promise.all(this.#stops.map((stop) => stop()));
    this.#stops = [];
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    const path = (request.url ?? '').split('?', 1)[0];
    if (path !== GATEWAY_PATH) reject(socket, '404 Not Found');
    else if (this.#isDraining || this.#handshakes.size >= HANDSHAKES_MAX) reject(socket, '503 Service Unavailable');
    else this.#server.handleUpgrade(request, socket, head, (webSocket) => void this.#open(webSocket, socket));
  }

  async #open(webSocket: WebSocket, socket: Duplex): Promise<void> {
    const { log, leaseMs, calls, connections } = this.#deps;
    webSocket.on('error', (error) => log.debug({ err: error.message }, 'WebSocket of an app'));
    webSocket.once('close', () => this.#handshakes.delete(webSocket));
    this.#handshakes.set(webSocket, { socket, until: Date.now() + HANDSHAKE_MS });
    const first = await greet(webSocket);
    const record = await accept(webSocket, first, this.#deps);
    if (!record) {
      webSocket.resume();
      return;
    }
    if (webSocket.readyState !== webSocket.OPEN) return;
    const onStatus = ({ record }: GatewayConnection) => void this.#store(record);
    const connection = new GatewayConnection(record, webSocket, { calls, leaseMs, onStatus, log });
    this.#connections.set(record.id, connection);
    webSocket.once('close', () => {
      this.#connections.delete(record.id);
      connections.close(record).catch(() => undefined);
    });
    this.#handshakes.delete(webSocket);
    if (!(await this.#store(record))) return connection.close(INTERNAL_ERROR);
    confirm(webSocket, leaseMs);
    webSocket.resume();
    log.info({ connection: record.id, env: record.env, apps: record.apps.map(({ name }) => name) }, 'app connected');
    if (this.#isDraining) connection.drain();
  }

  /** @returns false: Redis is away; the next renewal repeats it */
  async #store(record: Connection): Promise<boolean> {
    const { connections, log } = this.#deps;
    try {
      if (this.#isDraining) return true;
      await connections.renew([record]);
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
      await (connection ? connection.take(message) : this.#deps.calls.refuse(message));
    } catch (error) {
      this.#deps.log.debug({ call: message.callId, err: (error as Error).message }, 'a call was not passed on');
    }
  }

  async #renew(): Promise<void> {
    for (const connection of this.#connections.values()) {
      const isWanted = this.#deps.isLive(connection.record.env);
      if (connection.isSilent || !isWanted) connection.close(GATEWAY_CLOSING);
    }
    if (this.#isDraining) return;
    try {
      await this.#deps.connections.renew([...this.#connections.values()].map(({ record }) => record));
    } catch (error) {
      this.#deps.log.debug({ err: (error as Error).message }, 'connections were not renewed');
    }
  }

  #endOverdueHandshakes(): void {
    const now = Date.now();
    for (const [webSocket, { socket, until }] of this.#handshakes) {
      if ((socket.bytesRead ?? 0) > HANDSHAKE_MAX_BYTES) webSocket.terminate();
      else if (now > until) {
        this.#handshakes.delete(webSocket);
        closeSoon(webSocket, HANDSHAKE_TIMEOUT);
      }
    }
  }
}

function reject(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`, () => socket.destroy());
}
