/** Closes WebSockets. Some official SDKs give up unless the reason is one of these codes, on which they reconnect. */
import type { WebSocket } from 'ws';
import { CLOSE_MS } from './limits.ts';

/** The service shuts down, or has lost the instance, which then connects again. */
export const GATEWAY_CLOSING = { code: 1_001, reason: 'connect_gateway_closing' };
export const HANDSHAKE_TIMEOUT = { code: 4_408, reason: 'connect_worker_hello_timeout' };
export const AUTHENTICATION_FAILED = { code: 4_401, reason: 'connect_authentication_failed' };
export const INTERNAL_ERROR = { code: 1_011, reason: 'connect_internal_error' };

export interface Closing {
  code: number;
  reason: string;
}

/** Closes the WebSocket, and terminates it if the other end does not answer. */
export function closeSoon(socket: WebSocket, { code, reason }: Closing): void {
  socket.close(code, reason);
  const timer = setTimeout(() => socket.terminate(), CLOSE_MS);
  timer.unref();
  socket.once('close', () => clearTimeout(timer));
}
