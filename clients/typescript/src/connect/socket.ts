/** One WebSocket to a gateway of the service, from the request for its address to its close. */
import { hintIfRefused } from '../hints.ts';
import { parseObject } from '../response.ts';
import { askService } from '../service.ts';
import type { Settings } from '../settings.ts';
import { ConnectError } from './error.ts';
import { type Frame, frameText, type Kind, type Payloads, readFrame, SUBPROTOCOL } from './frames.ts';

/** The part of a WebSocket that a connection uses; that of Node, browsers and the package `ws`. */
export interface AnyWebSocket {
  readonly readyState: number;
  send(text: string): void;
  close(code?: number, reason?: string): void;
  // biome-ignore lint/suspicious/noExplicitAny: implementations have events of their own types
  addEventListener(type: 'open' | 'message' | 'close' | 'error', listener: (event: any) => void): void;
}

export type WebSocketClass = new (url: string, protocols: string[]) => AnyWebSocket;

export interface SocketOptions {
  settings: Settings;
  WebSocket: WebSocketClass;
  /** The part of the first message that says who connects. */
  instance: object;
  /** The instance is registered. It gets calls after `workerReady`. */
  onOpen(socket: GatewaySocket): void;
  onFrame(frame: Frame, socket: GatewaySocket): void;
  /** Called once after `onOpen`. */
  onClose(reason: string, socket: GatewaySocket): void;
}

const OPEN = 1;
const NORMAL = 1_000;
const HANDSHAKE_TIMEOUT_MS = 15_000;
/** Number of intervals without a message after which the connection is considered lost. */
const SILENT_INTERVALS = 3.5;

export class GatewaySocket {
  readonly #webSocket: AnyWebSocket;
  readonly #onLost: (reason: string) => void;
  #heartbeat: ReturnType<typeof setInterval> | undefined;
  #heardAtMs = Date.now();
  /** How often leases are extended; known after the handshake. */
  extendLeaseMs = 0;
  /** Whether its gateway shuts down. */
  isLeaving = false;

  constructor(webSocket: AnyWebSocket, onLost: (reason: string) => void) {
    this.#webSocket = webSocket;
    this.#onLost = onLost;
  }

  /** A frame that cannot be sent is lost: calls that need a confirmation send it again over the next connection. */
  send<K extends Kind>(kind: K, payload: Payloads[K]): void {
    if (this.#webSocket.readyState === OPEN) this.#webSocket.send(frameText(kind, payload));
  }

  heard(): void {
    this.#heardAtMs = Date.now();
  }

  begin({ heartbeatInterval, extendLeaseInterval }: Payloads['gatewayConnectionReady']): void {
    const heartbeatMs = Number.parseInt(heartbeatInterval, 10) * 1_000;
    this.extendLeaseMs = Number.parseInt(extendLeaseInterval, 10) * 1_000;
    this.#heartbeat = setInterval(() => {
      if (Date.now() - this.#heardAtMs > SILENT_INTERVALS * heartbeatMs) this.#onLost('the gateway is silent');
      else this.send('workerHeartbeat', {});
    }, heartbeatMs);
  }

  end(): void {
    clearInterval(this.#heartbeat);
    this.#webSocket.close(NORMAL);
  }
}

/** Resolves after `onOpen`.
 *  @throws ConnectError, ConfigError; ServeError if the service cannot be reached */
export async function openSocket({ settings, WebSocket, instance, ...on }: SocketOptions): Promise<void> {
  const { connectionId, gatewayEndpoint, sessionToken } = await start(settings);
  const webSocket = new WebSocket(gatewayEndpoint, [SUBPROTOCOL]);
  let phase: 'handshake' | 'open' | 'over' = 'handshake';
  const { promise, resolve, reject } = withResolvers();
  const lose = (reason: string, refusal?: ConnectError) => {
    if (phase === 'over') return;
    const wasOpen = phase === 'open';
    phase = 'over';
    clearTimeout(timer);
    socket.end();
    if (wasOpen) on.onClose(reason, socket);
    else reject(refusal ?? new ConnectError(`The connection to ${gatewayEndpoint} has failed: ${reason}`));
  };
  const socket = new GatewaySocket(webSocket, lose);
  const timer = setTimeout(() => lose('the gateway does not answer'), HANDSHAKE_TIMEOUT_MS);
  webSocket.addEventListener('error', ({ message }) => lose(message || 'it cannot be opened'));
  webSocket.addEventListener('close', ({ code, reason }) => lose(`${code} ${reason}`.trim()));
  webSocket.addEventListener('message', ({ data }) => {
    if (phase === 'over') return;
    socket.heard();
    const frame = readFrame(String(data));
    if (phase === 'open') return on.onFrame(frame, socket);
    const { kind, payload } = frame;
    if (kind === 'gatewayHello') {
      const authData = { sessionToken, syncToken: sessionToken };
      socket.send('workerConnect', { ...instance, connectionId, authData, workerManualReadinessAck: true });
    } else if (kind === 'syncFailed') {
      lose('refused', new ConnectError(`The service refused the connection: ${payload.message}`, payload.code));
    } else if (kind === 'gatewayConnectionReady') {
      clearTimeout(timer);
      phase = 'open';
      socket.begin(payload);
      on.onOpen(socket);
      resolve();
    }
  });
  return promise;
}

function withResolvers() {
  let resolve!: () => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}

async function start(settings: Settings) {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
  const { ok, status, text } = await askService('/v0/connect/start', init, settings);
  const { error, code, ...answer } = parseObject(text);
  if (ok) return answer as { connectionId: string; gatewayEndpoint: string; sessionToken: string };
  const reason = typeof error === 'string' ? error : `it answered ${status}`;
  throw new ConnectError(
    `The service at ${settings.baseUrl} refused the connection: ${reason}${hintIfRefused(status, settings.mode)}`,
    typeof code === 'string' ? code : undefined,
  );
}
