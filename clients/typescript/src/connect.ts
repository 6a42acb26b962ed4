/** Functions over a connection that the app opens: it needs no address (docs/connect.md). To host them at a URL, see `tidegate/node` and so on. */
import { hostname } from 'node:os';
import { createAppCalls, type HostedApp } from './app-calls.ts';
import { CallsInFlight } from './connect/calls.ts';
import { type Connection, type ConnectionState, ReconnectingConnection } from './connect/reconnect.ts';
import type { WebSocketClass } from './connect/socket.ts';
import { SDK } from './headers.ts';
import { refuseUnknown } from './options.ts';
import { functionOnTheWire } from './registration.ts';

export { ConnectError } from './connect/error.ts';
export type { Connection, ConnectionState } from './connect/reconnect.ts';

export interface ConnectOptions extends HostedApp {
  /** The most calls at a time. Default: the service's CONNECTION_CALLS_MAX. */
  maxConcurrency?: number | undefined;
  /** Name of this process among those of the app. Default: `<host name>-<process ID>`. */
  instanceId?: string | undefined;
  /** Version or build of the app. Default: the client's. */
  appVersion?: string | undefined;
  /** Called at each change. */
  onState?: ((state: ConnectionState) => void) | undefined;
  /** Default: the global one, which Node has from version 22. */
  WebSocket?: WebSocketClass | undefined;
}

const FRAMEWORK = 'connect';

const OPTIONS = Object.keys({
  client: true,
  functions: true,
  maxConcurrency: true,
  instanceId: true,
  appVersion: true,
  onState: true,
  WebSocket: true,
} satisfies Record<keyof ConnectOptions, true>);

/** Connects the app, and stays connected until `close()`. Resolves when it gets calls.
 *  @throws ConnectError if the service refuses the app at first; ConfigError; TypeError for invalid options */
export async function connect(options: ConnectOptions): Promise<Connection> {
  refuseUnknown('connect', options, OPTIONS);
  const { client, maxConcurrency, instanceId, appVersion = client.settings().appVersion, onState } = options;
  if (maxConcurrency !== undefined && !(Number.isInteger(maxConcurrency) && maxConcurrency > 0)) {
    throw new TypeError(`connect: maxConcurrency must be a whole number from 1, got ${maxConcurrency}`);
  }
  const app = createAppCalls(options, FRAMEWORK);
  const functions = JSON.stringify(app.functions.map((fn) => functionOnTheWire(fn, { type: 'ws' })));
  const [sdkLanguage, sdkVersion] = SDK.split(':');
  const instance = {
    instanceId: instanceId ?? `${hostname()}-${process.pid}`,
    apps: [{ appName: client.id, appVersion, functions }],
    framework: FRAMEWORK,
    sdkLanguage,
    sdkVersion,
    maxWorkerConcurrency: maxConcurrency,
  };
  const connector = new ReconnectingConnection({
    calls: new CallsInFlight(app, () => client.settings()),
    settings: () => client.settings(),
    WebSocket: options.WebSocket ?? globalWebSocket(),
    instance,
    onState: onState ?? (() => undefined),
  });
  await connector.start();
  return connector;
}

function globalWebSocket(): WebSocketClass {
  const { WebSocket } = globalThis as { WebSocket?: WebSocketClass };
  if (WebSocket) return WebSocket;
  throw new TypeError(
    "connect: there is no global WebSocket, which Node has from version 22. Pass one: import { WebSocket } from 'ws'; connect({ …, WebSocket })",
  );
}
