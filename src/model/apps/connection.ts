/** Connections of apps that dial out: instead of listening at a URL, an instance of the app opens a WebSocket, over which it gets its calls
 *  (docs/connect.md). */

/** Stands for the URL of an app, and of its functions, that connects. */
export const CONNECT_URL = 'wss://connect';

/** Whether the app gets its calls over connections. */
export function isConnected(url: string): boolean {
  return url.startsWith(CONNECT_URL);
}

/** `connecting`: it does not take calls yet. `paused`: it takes no more, and finishes those that it has. */
export type ConnectionStatus = 'connecting' | 'ready' | 'paused';

/** An app with the functions that an instance has. */
export interface ConnectedApp {
  name: string;
  version: string | undefined;
  /** Hash of its functions and their configurations. */
  functionsHash: string;
}

export interface Connection {
  id: string;
  env: string;
  /** The web process that holds the WebSocket. */
  gatewayId: string;
  /** Name of the app's process, by default its host name. */
  instanceId: string;
  sdk: string;
  platform: string | undefined;
  apps: ConnectedApp[];
  /** Calls that it takes at once. */
  concurrency: number;
  status: ConnectionStatus;
  /** Fingerprint of the signing key that authenticated it; undefined in dev mode. */
  keyFingerprint?: string | undefined;
  /** Unix milliseconds. */
  connectedAt: number;
  heartbeatAt: number;
}
