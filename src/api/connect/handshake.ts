/** The handshake of a WebSocket: the gateway sends a greeting, and the instance responds with its session token and
 *  its apps, which are registered. */
import type { WebSocket } from 'ws';
import { ServiceError } from '../../errors.ts';
import { formatOfSubprotocol, type MessageFormat } from '../../functions/connect/formats.ts';
import { ConnectionReady, KIND, SystemError, WorkerConnectRequest } from '../../functions/connect/messages.ts';
import type { Logger } from '../../log.ts';
import type { Connection } from '../../model/apps/connection.ts';
import { machineTime } from '../../model/values/clock.ts';
import type { ConnectSessions } from '../../store/connect/sessions.ts';
import { AUTHENTICATION_FAILED, type Closing, closeSoon, INTERNAL_ERROR } from './close.ts';
import type { ConnectionKeys } from './connection-keys.ts';
import { HANDSHAKE_MAX_BYTES, HEARTBEAT_SECONDS, TEXT_MAX_LENGTH } from './limits.ts';
import { type RegisterConnectionDeps, registerConnection } from './register-connection.ts';

/** Close codes that the protocol leaves to the service. */
const INVALID = 4_400;
const FULL = 4_429;
/** Names of languages in HTTP registrations, where they differ. */
const SDK_NAMES: ReadonlyMap<string, string> = new Map([
  ['typescript', 'js'],
  ['python', 'py'],
]);
/** A close frame has room for 123 bytes. */
const REASON_MAX = 120;

export interface FirstMessage {
  data: Buffer;
  isBinary: boolean;
}

export interface HandshakeDeps extends RegisterConnectionDeps {
  sessions: ConnectSessions;
  connectionKeys: ConnectionKeys;
  gatewayId: string;
  /** Maximum number of calls per connection, and of connections per environment. */
  callsMax: number;
  connectionsMax: number;
  log: Logger;
}

/** @returns the first message. Reading pauses afterwards, so that later messages are not lost before there is a listener */
export function greet(socket: WebSocket): Promise<FirstMessage> {
  socket.send(formatOf(socket).frame(KIND.gatewayHello), () => undefined);
  return new Promise((resolve) => {
    socket.once('message', (data: Buffer, isBinary: boolean) => {
      socket.pause();
      resolve({ data, isBinary });
    });
  });
}

/** Authenticates the instance and registers its apps.
 *  @param onAuthenticated called between the two; may throw a ServiceError
 *  @returns undefined: the WebSocket has been closed, with the reason */
export async function accept(
  socket: WebSocket,
  first: FirstMessage,
  deps: HandshakeDeps,
  onAuthenticated: (env: string) => void,
): Promise<Connection | undefined> {
  try {
    return await connectionOf(requestOf(first, formatOf(socket)), deps, onAuthenticated);
  } catch (error) {
    refuse(socket, error as Error, deps.log);
    return undefined;
  }
}

/** Confirms the connection: the instance now gets calls, unless it announces separately when it is ready. */
export function confirm(socket: WebSocket, leaseMs: number): void {
  const intervals = {
    heartbeatInterval: `${HEARTBEAT_SECONDS}s`,
    extendLeaseInterval: `${Math.max(1, Math.floor(leaseMs / 4_000))}s`,
  };
  socket.send(formatOf(socket).frame(KIND.gatewayConnectionReady, ConnectionReady, intervals), () => undefined);
}

async function connectionOf(
  request: WorkerConnectRequest,
  deps: HandshakeDeps,
  onAuthenticated: (env: string) => void,
): Promise<Connection> {
  const session = await deps.sessions.redeem(request.authData?.sessionToken ?? '');
  if (!session || session.connectionId !== request.connectionId) {
    throw new ServiceError('credentials_invalid', { detail: 'the session token is unknown, used or expired' });
  }
  const now = machineTime();
  const { env, keyFingerprint } = session;
  if (!(await deps.connectionKeys.isValid(env, keyFingerprint))) {
    throw new ServiceError('credentials_invalid', { detail: 'the signing key was rotated; connect with the new one' });
  }
  onAuthenticated(env);
  const place = { env, id: session.connectionId, apps: [] };
  if (!(await deps.connections.reserve(place, deps.connectionsMax))) {
    throw new ServiceError('too_many_connections', { detail: `CONNECTIONS_MAX is ${deps.connectionsMax}` });
  }
  const sdk = [sdkName(request.sdkLanguage), request.sdkVersion].filter(Boolean).join(':').slice(0, TEXT_MAX_LENGTH);
  const instanceId = request.instanceId.slice(0, TEXT_MAX_LENGTH);
  const apps = await registerConnection(session, { ...request, instanceId }, sdk, deps).catch(async (error) => {
    await deps.connections.close(place);
    throw error;
  });
  const asked = request.maxWorkerConcurrency ?? 0;
  return {
    id: session.connectionId,
    env,
    gatewayId: deps.gatewayId,
    instanceId,
    sdk,
    platform: request.platform?.slice(0, TEXT_MAX_LENGTH),
    apps,
    concurrency: asked > 0 ? Math.min(asked, deps.callsMax) : deps.callsMax,
    keyFingerprint,
    status: request.workerManualReadinessAck ? 'connecting' : 'ready',
    connectedAt: now,
    heartbeatAt: now,
  };
}

function formatOf(socket: WebSocket): MessageFormat {
  return formatOfSubprotocol(socket.protocol);
}

function requestOf({ data, isBinary }: FirstMessage, format: MessageFormat): WorkerConnectRequest {
  try {
    if (data.length > HANDSHAKE_MAX_BYTES) throw new Error(`it has more than ${HANDSHAKE_MAX_BYTES} bytes`);
    const frame = format.readFrame(data, isBinary);
    if (frame.kind !== KIND.workerConnect) throw new Error(`expected kind ${KIND.workerConnect}, got ${frame.kind}`);
    return frame.read(WorkerConnectRequest);
  } catch (cause) {
    const detail = `the first message is not a connect request: ${(cause as Error).message}`;
    throw new ServiceError('registration_invalid', { detail, cause });
  }
}

/** Same form as in HTTP registrations. */
function sdkName(language: string): string {
  return SDK_NAMES.get(language) ?? language;
}

function refuse(socket: WebSocket, error: Error, log: Logger): void {
  const known = error instanceof ServiceError ? error : undefined;
  if (!known) log.warn({ err: error.message }, 'an app could not be connected');
  const { code, message } = known ?? { code: 'internal', message: 'the service had an internal error' };
  socket.send(formatOf(socket).frame(KIND.syncFailed, SystemError, { code, message }), () => undefined);
  closeSoon(socket, closingOf(known));
}

function closingOf(error: ServiceError | undefined): Closing {
  if (!error || error.status >= 500) return INTERNAL_ERROR;
  if (error.code === 'credentials_invalid') return AUTHENTICATION_FAILED;
  const bytes = Buffer.from(`${error.code}: ${error.message}`);
  // Streaming mode drops an incomplete last character.
  const reason = new TextDecoder().decode(bytes.subarray(0, REASON_MAX), { stream: true });
  return { code: error.code === 'too_many_connections' ? FULL : INVALID, reason };
}
