/** Messages of a connection: text frames of JSON (docs/protocol.md#connect). */
import { HEADERS, SDK } from '../headers.ts';
import { parseObject } from '../response.ts';
import type { Outcome } from '../run-call.ts';

export const SUBPROTOCOL = 'v1.connect.tidegate';

/** The payloads, by kind, with the fields that this client reads or writes. */
export interface Payloads {
  gatewayHello: object;
  workerConnect: object;
  gatewayConnectionReady: { heartbeatInterval: string; extendLeaseInterval: string };
  syncFailed: { code: string; message: string };
  workerReady: object;
  gatewayExecutorRequest: CallRequest;
  workerRequestAck: { requestId: string };
  workerRequestExtendLease: { requestId: string; leaseId: string };
  /** Without `newLeaseId` the lease is lost. */
  workerRequestExtendLeaseAck: { requestId: string; newLeaseId?: string };
  workerReply: Reply;
  workerReplyAck: { requestId: string };
  workerCheckpoint: CheckpointToStore;
  workerCheckpointAck: { checkpointId: string; status: number };
  workerPause: object;
  workerHeartbeat: object;
  gatewayHeartbeat: object;
  gatewayClosing: object;
}

export type Kind = keyof Payloads;

export type Frame = { [K in Kind]: { kind: K; payload: Payloads[K] } }[Kind];

export interface CallRequest {
  /** ID of the call. */
  requestId: string;
  leaseId: string;
  functionSlug: string;
  stepId?: string;
  /** The body of the call, as over HTTP. */
  requestPayload: string;
}

export interface Reply {
  requestId: string;
  status: number;
  body: string;
  noRetry: boolean;
  retryAfter?: string | undefined;
  sdkVersion: string;
}

export interface CheckpointToStore {
  checkpointId: string;
  runId: string;
  /** The same as over HTTP. */
  body: string;
}

const REPLY_STATUS = { notCompleted: 0, done: 1, error: 2 };
/** The gateway closes a connection that sends a longer frame. A response between the gateway's limit for responses and this length fails the call. */
const FRAME_MAX_BYTES = 12 * 1_048_576;

export function frameText<K extends Kind>(kind: K, payload: Payloads[K]): string {
  return JSON.stringify({ kind, payload });
}

/** Kinds that this client does not know are passed on unchanged. */
export function readFrame(text: string): Frame {
  return { payload: {}, ...parseObject(text) } as Frame;
}

export function replyOf(requestId: string, { status, headers, body }: Outcome): Reply {
  const reply = {
    requestId,
    status: status === 200 ? REPLY_STATUS.done : status === 206 ? REPLY_STATUS.notCompleted : REPLY_STATUS.error,
    body,
    noRetry: headers[HEADERS.noRetry] === 'true',
    retryAfter: headers[HEADERS.retryAfter],
    sdkVersion: SDK,
  };
  if (body.length < FRAME_MAX_BYTES / 6 || Buffer.byteLength(frameText('workerReply', reply)) < FRAME_MAX_BYTES)
    return reply;
  const message = 'the response to the call is too large; store large data elsewhere and return its location';
  const error = JSON.stringify({ name: 'OutputTooLarge', message });
  return { ...reply, status: REPLY_STATUS.error, noRetry: true, body: error };
}
