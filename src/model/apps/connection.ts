/** Connections of apps: instead of listening at a URL, an instance of the app opens a WebSocket and receives its calls over it
 *  (docs/connect.md). */

/** Stored as the URL of apps that connect, and of their functions. */
export const CONNECT_URL = 'wss://connect';

/** Whether the app gets its calls over connections. */
export function isConnected(url: string): boolean {
  return url.startsWith(CONNECT_URL);
}

/** `connecting`: takes no calls yet. `paused`: takes no new calls, and finishes calls in flight. */
export type ConnectionStatus = 'connecting' | 'ready' | 'paused';

/** An app and the functions that an instance of it serves. */
export interface ConnectedApp {
  name: string;
  version: string | undefined;
  /** Hash of the functions and their configurations. */
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
  /** Maximum number of concurrent calls. */
  concurrency: number;
  status: ConnectionStatus;
  /** Fingerprint of the signing key that authenticated the connection; undefined in dev mode. */
  keyFingerprint?: string | undefined;
  /** Unix milliseconds. */
  connectedAt: number;
  heartbeatAt: number;
}
