/** Limits of connections that are not settings. */
import { REPLY_MAX_BYTES } from '../../functions/connect/reply.ts';
import { MAX_STEP_BYTES } from '../../model/runs/memo.ts';
import { BODY_MAX_BYTES } from '../apps/register.ts';
import type { HandshakeLimits } from './handshakes.ts';

/** Some SDKs send heartbeats at this interval whatever the gateway says. */
export const HEARTBEAT_SECONDS = 10;
/** A connection without any message for this long is considered dead. */
export const SILENCE_MAX_MS = 3.5 * HEARTBEAT_SECONDS * 1_000;
/** Time from the WebSocket to the end of its registration, as SDKs expect it. */
const HANDSHAKE_MS = 10_000;
/** Maximum bytes before authentication: enough for all functions of its apps. */
export const HANDSHAKE_MAX_BYTES = BODY_MAX_BYTES + 65_536;
/** Unauthenticated WebSockets of a process. All apps behind one address may connect at the same time. */
export const HANDSHAKES: HandshakeLimits = {
  max: 200,
  ofAddressMax: 50,
  maxBytes: 8 * HANDSHAKE_MAX_BYTES,
  helloMs: 5_000,
  totalMs: HANDSHAKE_MS,
};
/** Larger frames close the connection. A reply up to this size that is still too large fails its call, and the app learns why. */
export const FRAME_MAX_BYTES = REPLY_MAX_BYTES + MAX_STEP_BYTES;
/** With more unsent data than this, a connection gets no more calls. */
export const UNSENT_MAX_BYTES = 16 * 1_048_576;
/** Maximum number of messages whose effect Redis has not confirmed, or whose response waits for the instance to read;
 *  beyond that, the connection is not read. A response of a few bytes takes 100 times as many in memory, so bytes alone would bound little. */
export const UNANSWERED_MAX = 500;
/** The same for the bytes of these messages. They stay in memory until then, and a response may repeat an ID of any length. */
export const UNANSWERED_MAX_BYTES = 4 * FRAME_MAX_BYTES;
/** Maximum length of names and versions sent by an instance. */
export const TEXT_MAX_LENGTH = 256;
/** Time for the other end to close the WebSocket. */
export const CLOSE_MS = 1_000;
