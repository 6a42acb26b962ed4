/** One WebSocket of an instance of an app, from the end of its handshake to its close. It forwards calls to the instance, and stores the
 *  replies. It holds no state that another gateway would need: an instance may continue over another connection. */
import type { WebSocket } from 'ws';
import type { Message, MessageOf } from '../../functions/connect/codec.ts';
import { formatOfSubprotocol, type MessageFormat, type ReceivedFrame } from '../../functions/connect/formats.ts';
import {
  Checkpoint,
  CheckpointAck,
  ExecutorRequest,
  ExtendLease,
  ExtendLeaseAck,
  KIND,
  Reply,
  ReplyAck,
  RequestAck,
} from '../../functions/connect/messages.ts';
import { REPLY_MAX_BYTES, tooLargeReply } from '../../functions/connect/reply.ts';
import { retryStoreWrites } from '../../jobs/runs/calls/service-errors.ts';
import type { Connection } from '../../model/apps/connection.ts';
import { ID_PATTERN } from '../../model/ids.ts';
import { machineTime } from '../../model/values/clock.ts';
import type { ConnectCalls, GatewayMessage } from '../../store/connect/connect-calls.ts';
import { answerCheckpoint, type CheckpointFramesDeps } from './checkpoint-frames.ts';
import { type Closing, closeSoon } from './close.ts';
import { SILENCE_MAX_MS, UNANSWERED_MAX, UNANSWERED_MAX_BYTES, UNSENT_MAX_BYTES } from './limits.ts';

const INVALID_MESSAGE: Closing = { code: 1_007, reason: 'invalid message' };

export interface GatewayConnectionDeps extends CheckpointFramesDeps {
  calls: ConnectCalls;
  leaseMs: number;
  /** Called when the status of the connection changes. */
  onStatus: (connection: GatewayConnection) => void;
  /** Default: UNANSWERED_MAX_BYTES. */
  unansweredMaxBytes?: number;
}

export class GatewayConnection {
  readonly record: Connection;
  readonly #socket: WebSocket;
  readonly #format: MessageFormat;
  readonly #deps: GatewayConnectionDeps;
  /** Calls received and not acknowledged. */
  readonly #unacknowledged = new Map<string, GatewayMessage>();
  /** IDs of the calls of the instance that this connection knows of. */
  readonly #inProgress = new Set<string>();
  #unanswered = 0;
  #unansweredBytes = 0;
  #seenAt = machineTime();
  #isClosing = false;

  constructor(record: Connection, socket: WebSocket, deps: GatewayConnectionDeps) {
    this.record = record;
    this.#socket = socket;
    this.#format = formatOfSubprotocol(socket.protocol);
    this.#deps = deps;
    socket.on('message', (data: Buffer, isBinary: boolean) => this.#receive(data, isBinary));
    socket.once('close', () => this.#refuseUnacknowledged());
  }

  /** Whether the instance works on no call. */
  get isIdle(): boolean {
    return this.#inProgress.size === 0 && this.#unanswered === 0;
  }

  get isSilent(): boolean {
    return machineTime() - this.#seenAt > SILENCE_MAX_MS;
  }

  /** Forwards a call to the instance, or refuses it so that another connection gets it. */
  async take(message: GatewayMessage): Promise<void> {
    const canTake =
      !this.#isClosing &&
      this.record.status === 'ready' &&
      this.#socket.readyState === this.#socket.OPEN &&
      this.#socket.bufferedAmount < UNSENT_MAX_BYTES;
    if (!canTake) return this.#deps.calls.refuse(message);
    this.#unacknowledged.set(message.callId, message);
    const body = message.body ?? (await this.#deps.calls.body(message));
    if (body === undefined) {
      this.#unacknowledged.delete(message.callId);
      return;
    }
    void this.#send(KIND.gatewayExecutorRequest, ExecutorRequest, executorRequest(message, body));
  }

  /** Tells the instance to open another connection; its calls continue over either. */
  drain(): void {
    this.#isClosing = true;
    this.#refuseUnacknowledged();
    void this.#send(KIND.gatewayClosing);
  }

  close(closing: Closing): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    closeSoon(this.#socket, closing);
  }

  #receive(data: Buffer, isBinary: boolean): void {
    this.#seenAt = machineTime();
    try {
      this.#handle(this.#format.readFrame(data, isBinary), data.length);
    } catch (error) {
      this.#deps.log.debug({ connection: this.record.id, err: (error as Error).message }, 'invalid message');
      this.close(INVALID_MESSAGE);
    }
  }

  /** Unknown kinds are ignored: newer SDKs may send them. */
  #handle(frame: ReceivedFrame, bytes: number): void {
    const { record } = this;
    const { kind } = frame;
    if (kind === KIND.workerHeartbeat) {
      record.heartbeatAt = machineTime();
      this.#answer(this.#send(KIND.gatewayHeartbeat), bytes);
    } else if (kind === KIND.workerReady && record.status === 'connecting') this.#setStatus('ready');
    else if (kind === KIND.workerPause && record.status !== 'paused') this.#setStatus('paused');
    else if (kind === KIND.workerRequestAck) this.#answer(this.#acknowledge(frame.read(RequestAck)), bytes);
    else if (kind === KIND.workerRequestExtendLease) this.#answer(this.#extend(frame.read(ExtendLease)), bytes);
    else if (kind === KIND.workerCheckpoint) this.#answer(this.#checkpoint(frame.read(Checkpoint)), bytes);
    else if (kind === KIND.workerReply) this.#answer(this.#reply(frame.read(Reply)), bytes);
  }

  #setStatus(status: Connection['status']): void {
    this.record.status = status;
    this.#deps.onStatus(this);
  }

  async #acknowledge({ requestId: callId }: MessageOf<typeof RequestAck>): Promise<void> {
    if (!ID_PATTERN.test(callId)) return;
    this.#unacknowledged.delete(callId);
    this.#inProgress.add(callId);
    if (await this.#deps.calls.acknowledge(this.#lease(callId))) return;
    this.#inProgress.delete(callId);
    // Another connection has the call, so the instance can stop.
    await this.#send(KIND.workerRequestExtendLeaseAck, ExtendLeaseAck, { requestId: callId });
  }

  async #extend({ requestId: callId, leaseId }: MessageOf<typeof ExtendLease>): Promise<void> {
    if (!ID_PATTERN.test(callId)) return;
    this.#unacknowledged.delete(callId);
    const isExtended = await this.#deps.calls.extend(this.#lease(callId), leaseId);
    if (isExtended) this.#inProgress.add(callId);
    else this.#inProgress.delete(callId);
    // The lease keeps its ID: a lease whose confirmation was lost with a connection can be extended over the next one.
    const reply = { requestId: callId, ...(isExtended && { newLeaseId: leaseId }) };
    await this.#send(KIND.workerRequestExtendLeaseAck, ExtendLeaseAck, reply);
  }

  async #reply(reply: MessageOf<typeof Reply>): Promise<void> {
    const { env } = this.record;
    const { requestId } = reply;
    this.#unacknowledged.delete(requestId);
    await retryStoreWrites(() => storeReply(env, reply, this.#deps.calls));
    this.#inProgress.delete(requestId);
    await this.#send(KIND.workerReplyAck, ReplyAck, { requestId });
  }

  async #checkpoint(checkpoint: MessageOf<typeof Checkpoint>): Promise<void> {
    const reply = await answerCheckpoint(this.record.env, checkpoint, this.#deps);
    await this.#send(KIND.workerCheckpointAck, CheckpointAck, reply);
  }

  #lease(callId: string) {
    return { env: this.record.env, callId, connectionId: this.record.id, leaseMs: this.#deps.leaseMs };
  }

  /** Without a response the instance repeats the message: it extends leases regularly, and flushes its replies.
   *  @param answering until the effect of the message is stored and its response has left the process */
  #answer(answering: Promise<void>, bytes: number): void {
    this.#countUnanswered(1, bytes);
    answering
      .catch((error: Error) =>
        this.#deps.log.warn({ connection: this.record.id, err: error.message }, 'a message of an app was not stored'),
      )
      .finally(() => this.#countUnanswered(-1, -bytes));
  }

  /** An instance that sends without reading what it gets is not read either: it waits, and is silent in the end. */
  #countUnanswered(messages: number, bytes: number): void {
    this.#unanswered += messages;
    this.#unansweredBytes += bytes;
    const { unansweredMaxBytes = UNANSWERED_MAX_BYTES } = this.#deps;
    const isFull = this.#unanswered >= UNANSWERED_MAX || this.#unansweredBytes >= unansweredMaxBytes;
    if (isFull) this.#socket.pause();
    else if (this.#socket.isPaused) this.#socket.resume();
  }

  /** Resolves when the frame has left the process, or never will. */
  #send<Value>(kind: number, message?: Message<Value>, value?: Partial<Value>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (this.#socket.readyState !== this.#socket.OPEN) resolve();
    else this.#socket.send(this.#format.frame(kind, message, value), () => resolve());
    return promise;
  }

  #refuseUnacknowledged(): void {
    for (const message of this.#unacknowledged.values()) this.#deps.calls.refuse(message).catch(() => undefined);
    this.#unacknowledged.clear();
  }
}

/** @returns whether it is the first reply to a call that is waited for */
export async function storeReply(env: string, reply: MessageOf<typeof Reply>, calls: ConnectCalls): Promise<boolean> {
  const { requestId: callId } = reply;
  if (!ID_PATTERN.test(callId)) return false;
  const stored = Reply.encode(reply);
  return calls.reply({ env, callId }, stored.length > REPLY_MAX_BYTES ? tooLargeReply(callId) : stored);
}

function executorRequest(message: GatewayMessage, body: string): Partial<MessageOf<typeof ExecutorRequest>> {
  const { callId, env, app, functionId, stepId, runId, leaseId, jobId, trace } = message;
  const traceContext = Buffer.from(JSON.stringify({ tracestate: '', ...trace }));
  return {
    requestId: callId,
    accountId: env,
    envId: env,
    appId: app,
    appName: app,
    functionId,
    functionSlug: functionId,
    stepId,
    requestPayload: Buffer.from(body),
    systemTraceCtx: traceContext,
    userTraceCtx: traceContext,
    runId,
    leaseId,
    jobId,
  };
}
