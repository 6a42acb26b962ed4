/** WebSockets. An upgrade request passes the same middleware and routes as every request, so errors are answered, counted and logged
 *  alike; its route then accepts the connection instead of responding. */
import type { IncomingMessage, ServerResponse as Response, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { ServiceError } from '../../errors.ts';
import { ConcurrencyLimits } from '../../model/capacity/concurrency-limits.ts';
import { ServerResponse } from '../../node-http.ts';
import type { Context } from './router.ts';

export type { WebSocket };

/** A connection that does not answer a ping before the next one is closed. */
const PING_MS = 30_000;
/** Maximum number of connections per process; an environment, or all branches together, may use half of them. */
const MAX_OPEN = 10_000;
/** Time for the other end to close, at shutdown. */
const CLOSE_MS = 1_000;
const RETRY_AFTER_SECONDS = 5;
/** Close code of a server that goes away; clients then connect to another process. */
const GOING_AWAY = 1_001;

export interface WebSocketOptions {
  /** A larger message closes the connection. */
  maxMessageBytes: number;
  /** Subprotocols of the route; absent: none. */
  protocols?: readonly string[];
  /** Called at shutdown instead of closing the connection. */
  onShutdown?(socket: WebSocket): void;
}

/** @param owner environment or set of branches to count the connection for; undefined: unknown yet, `countFor` follows
 *  @returns the open connection
 *  @throws ServiceError upgrade_required, input_invalid, overloaded, too_many_connections */
export type AcceptWebSocket = (ctx: Context, owner?: string) => Promise<WebSocket>;

interface Upgrade {
  socket: Duplex;
  head: Buffer;
}

/** An option of `http.createServer`. Requests for other upgrades, such as HTTP/2 in clear text, are treated as ordinary requests. */
export function isWebSocketUpgrade({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';
}

export class WebSockets {
  readonly #upgrades = new WeakMap<IncomingMessage, Upgrade>();
  readonly #open = new Map<WebSocket, { options: WebSocketOptions; isAlive: boolean }>();
  readonly #owners = new ConcurrencyLimits();
  readonly #max: number;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(max = MAX_OPEN) {
    this.#max = max;
  }

  /** @param serve the application */
  attach(server: Server, serve: (request: IncomingMessage, response: Response) => unknown): void {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      socket.on('error', () => socket.destroy());
      this.#upgrades.set(request, { socket, head });
      const response = new ServerResponse(request);
      response.shouldKeepAlive = false;
      response.assignSocket(socket as never);
      // Only the response to a refused upgrade ends here.
      response.once('finish', () => socket.end());
      void serve(request, response);
    });
  }

  /** Returns the function with which a route accepts connections. */
  endpoint(options: WebSocketOptions): AcceptWebSocket {
    const { maxMessageBytes, protocols = [] } = options;
    const server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: maxMessageBytes,
      handleProtocols: (offered) => protocols.find((name) => offered.has(name)) ?? false,
    });
    // The listener keeps the library from sending its own response.
    server.on('wsClientError', (error, _, request) => refusals.get(request)?.(error));
    return async (ctx, owner) => {
      const upgrade = this.#upgrades.get(ctx.req);
      if (!upgrade)
        throw new ServiceError('upgrade_required', { detail: 'connect with a WebSocket (ws:// or wss://)' });
      if (this.#closed || this.#open.size >= this.#max) {
        throw new ServiceError('overloaded', {
          detail: 'too many WebSockets are open, or the process shuts down',
          retryAfterSeconds: RETRY_AFTER_SECONDS,
        });
      }
      const endCount = owner === undefined ? undefined : this.#count(owner);
      const socket = await open(server, ctx, upgrade).catch((error) => {
        endCount?.();
        throw error;
      });
      if (endCount) socket.once('close', endCount);
      this.#watch(socket, options);
      return socket;
    };
  }

  /** Counts an open connection for its owner.
   *  @throws ServiceError too_many_connections */
  countFor(owner: string, socket: WebSocket): void {
    const end = this.#count(owner);
    if (socket.readyState === socket.CLOSED) end();
    else socket.once('close', end);
  }

  #count(owner: string): () => void {
    const max = Math.ceil(this.#max / 2);
    const counted = this.#owners.begin([{ name: owner, max }]);
    if ('end' in counted) return counted.end;
    throw new ServiceError('too_many_connections', {
      detail: `the environment has ${max} WebSockets at this process, or all branches have; connect to another process`,
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }

  /** Closes all connections, and accepts no more. */
  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
    for (const [socket, { options }] of this.#open) {
      if (options.onShutdown) options.onShutdown(socket);
      else closeSoon(socket);
    }
  }

  #watch(socket: WebSocket, options: WebSocketOptions): void {
    const state = { options, isAlive: true };
    this.#open.set(socket, state);
    socket.on('pong', () => {
      state.isAlive = true;
    });
    // Each error is followed by "close".
    socket.on('error', () => undefined);
    socket.once('close', () => {
      this.#open.delete(socket);
      if (this.#open.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    });
    this.#timer ??= setInterval(() => this.#pingAll(), PING_MS).unref();
  }

  #pingAll(): void {
    for (const [socket, state] of this.#open) {
      if (!state.isAlive) {
        socket.terminate();
        continue;
      }
      state.isAlive = false;
      socket.ping();
    }
  }
}

/** Handshakes in progress, and how to fail each. */
const refusals = new WeakMap<IncomingMessage, (error: Error) => void>();

/** @throws ServiceError input_invalid */
async function open(server: WebSocketServer, ctx: Context, { socket, head }: Upgrade): Promise<WebSocket> {
  if (!socket.readable || !socket.writable) {
    throw new ServiceError('input_invalid', { detail: 'the connection is gone' });
  }
  const opened = Promise.withResolvers<WebSocket>();
  refusals.set(ctx.req, opened.reject);
  // From here on, the connection is not HTTP.
  ctx.res.detachSocket(socket as never);
  server.handleUpgrade(ctx.req, socket, head, opened.resolve);
  try {
    const accepted = await opened.promise;
    ctx.respond = false;
    ctx.status = 101;
    return accepted;
  } catch (error) {
    ctx.res.assignSocket(socket as never);
    throw new ServiceError('input_invalid', { detail: (error as Error).message, cause: error });
  }
}

/** Closes without waiting for the other end. */
function closeSoon(socket: WebSocket): void {
  socket.close(GOING_AWAY, 'the service restarts; connect again');
  setTimeout(() => socket.terminate(), CLOSE_MS).unref();
}
