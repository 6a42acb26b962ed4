/** What bounds connections, besides the settings. */
import { REPLY_MAX_BYTES } from '../../functions/connect/reply.ts';
import { MAX_STEP_BYTES } from '../../model/runs/memo.ts';
import { BODY_MAX_BYTES } from '../apps/register.ts';
import type { HandshakeLimits } from './handshakes.ts';

/** Some SDKs send heartbeats at this interval whatever the gateway says. */
export const HEARTBEAT_SECONDS = 10;
/** A connection without any message for this long is dead. */
export const SILENCE_MAX_MS = 3.5 * HEARTBEAT_SECONDS * 1_000;
/** From the WebSocket to the end of its registration, as SDKs wait for it. */
const HANDSHAKE_MS = 10_000;
/** What a WebSocket may send before it has authenticated: all functions of its apps. */
export const HANDSHAKE_MAX_BYTES = BODY_MAX_BYTES + 65_536;
/** WebSockets of a process that have not authenticated yet. All apps behind one address may connect at the same time. */
export const HANDSHAKES: HandshakeLimits = {
  max: 200,
  ofAddressMax: 50,
  maxBytes: 8 * HANDSHAKE_MAX_BYTES,
  helloMs: 5_000,
  totalMs: HANDSHAKE_MS,
};
/** Larger frames close the connection; a reply up to this size that is still too large fails its call, and the app learns why. */
export const FRAME_MAX_BYTES = REPLY_MAX_BYTES + MAX_STEP_BYTES;
/** A connection that reads so slowly that more than this is waiting to be sent gets no more calls. */
export const UNSENT_MAX_BYTES = 16 * 1_048_576;
/** Messages of a connection whose effect Redis has not confirmed; above, nothing more is read from it. */
export const UNCONFIRMED_MAX = 500;
/** Names and versions that an instance gives. */
export const TEXT_MAX_LENGTH = 256;
/** For the other end of a WebSocket to close it too. */
export const CLOSE_MS = 1_000;
