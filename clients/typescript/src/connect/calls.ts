/** The calls that an instance is working on. Calls outlive a connection: after a break they continue over the next connection, and a reply that no
 *  connection confirms is sent by an HTTP request. */
import { setTimeout as wait } from 'node:timers/promises';
import { type AppCalls, refusal } from '../app-calls.ts';
import { askService } from '../service.ts';
import type { Settings } from '../settings.ts';
import { backoffMs } from './backoff.ts';
import { type CallRequest, type CheckpointToStore, type Frame, type Reply, replyOf } from './frames.ts';
import type { GatewaySocket } from './socket.ts';

/** A connection confirms a reply within this time, or a request brings it. */
const CONFIRM_MS = 5_000;
const STORE_TIMEOUT_MS = 10_000;
/** Statuses of a checkpoint without a response: the call ends with its steps. */
const SUPERSEDED = 409;
const UNANSWERED = 504;
/** The service keeps a call without a lease no longer. */
const FLUSH_MS = 300_000;
const TRY_TIMEOUT_MS = 10_000;

interface CallInFlight {
  request: CallRequest;
  /** The service has given it to another instance, or counts it as failed. */
  isLost: boolean;
  reply?: Reply;
  confirm?: () => void;
}

interface PendingCheckpoint {
  checkpoint: CheckpointToStore;
  answer(status: number): void;
}

export class CallsInFlight {
  readonly #app: AppCalls;
  readonly #settings: () => Settings;
  readonly #calls = new Map<string, CallInFlight>();
  readonly #checkpoints = new Map<string, PendingCheckpoint>();
  #socket: GatewaySocket | undefined;
  #extending: ReturnType<typeof setInterval> | undefined;
  #idle: (() => void)[] = [];
  #lastCheckpoint = 0;

  constructor(app: AppCalls, settings: () => Settings) {
    this.#app = app;
    this.#settings = settings;
  }

  get size(): number {
    return this.#calls.size;
  }

  /** Resolves when no call is in flight. */
  idle(): Promise<void> {
    return this.#calls.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#idle.push(resolve));
  }

  /** Continues over this connection; undefined: over no connection until there is another one. */
  use(socket: GatewaySocket | undefined): void {
    clearInterval(this.#extending);
    this.#socket = socket;
    if (!socket) return;
    this.#extendAll();
    for (const { reply } of this.#calls.values()) if (reply) socket.send('workerReply', reply);
    for (const { checkpoint } of this.#checkpoints.values()) socket.send('workerCheckpoint', checkpoint);
    this.#extending = setInterval(() => this.#extendAll(), socket.extendLeaseMs);
  }

  receive({ kind, payload }: Frame, socket: GatewaySocket): void {
    if (kind === 'gatewayExecutorRequest') this.#take(payload, socket);
    else if (kind === 'workerRequestExtendLeaseAck') this.#extended(payload.requestId, payload.newLeaseId);
    else if (kind === 'workerReplyAck') this.#calls.get(payload.requestId)?.confirm?.();
    else if (kind === 'workerCheckpointAck') this.#checkpoints.get(payload.checkpointId)?.answer(payload.status);
  }

  #take(request: CallRequest, socket: GatewaySocket): void {
    const { requestId } = request;
    socket.send('workerRequestAck', { requestId });
    const known = this.#calls.get(requestId);
    if (!known) {
      const call = { request, isLost: false };
      this.#calls.set(requestId, call);
      void this.#work(call);
      return;
    }
    // The acknowledgement of the call was lost with a connection, so the service has sent the call again.
    Object.assign(known, { request, isLost: false });
    if (known.reply) socket.send('workerReply', known.reply);
  }

  async #work(call: CallInFlight): Promise<void> {
    const { requestId, functionSlug: fnId, stepId = 'step', requestPayload: body } = call.request;
    const sendCheckpoint = (runId: string, checkpoint: string) => this.#sendCheckpoint(call, runId, checkpoint);
    const outcome = await this.#app.run({ body, fnId, stepId, sendCheckpoint }, this.#settings()).catch(refusal);
    call.reply = replyOf(requestId, outcome);
    if (!call.isLost) await this.#deliver(call, call.reply);
    this.#calls.delete(requestId);
    if (this.#calls.size > 0) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  async #deliver(call: CallInFlight, reply: Reply): Promise<void> {
    const confirmed = new AbortController();
    call.confirm = () => confirmed.abort();
    this.#socket?.send('workerReply', reply);
    const { signal } = confirmed;
    const isConfirmed = await wait(this.#socket ? CONFIRM_MS : 0, false, { signal }).catch(() => true);
    if (!isConfirmed) await this.#flush(reply, signal);
  }

  async #flush(reply: Reply, confirmed: AbortSignal): Promise<void> {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(reply) };
    const untilMs = Date.now() + FLUSH_MS;
    for (let tries = 0; !confirmed.aborted && Date.now() < untilMs; tries++) {
      try {
        const { ok, status, text } = await askService('/v0/connect/flush', init, this.#settings(), TRY_TIMEOUT_MS);
        if (ok) return;
        if (status === 400 || status === 413) {
          this.#settings().logger.error(`The service refused the reply to a call: ${text}`);
          return;
        }
      } catch {
        // The service cannot be reached now.
      }
      await wait(backoffMs(tries), undefined, { signal: confirmed }).catch(() => undefined);
    }
  }

  /** Resolves to the status; after a break the next connection repeats it. */
  async #sendCheckpoint({ isLost }: CallInFlight, runId: string, body: string): Promise<number> {
    if (isLost) return SUPERSEDED;
    const checkpointId = String(++this.#lastCheckpoint);
    const checkpoint = { checkpointId, runId, body };
    const stop = new AbortController();
    try {
      return await Promise.race([
        new Promise<number>((answer) => {
          this.#checkpoints.set(checkpointId, { checkpoint, answer });
          this.#socket?.send('workerCheckpoint', checkpoint);
        }),
        wait(STORE_TIMEOUT_MS, UNANSWERED, { signal: stop.signal }),
      ]);
    } finally {
      stop.abort();
      this.#checkpoints.delete(checkpointId);
    }
  }

  #extendAll(): void {
    for (const { request, isLost } of this.#calls.values()) {
      const { requestId, leaseId } = request;
      if (!isLost) this.#socket?.send('workerRequestExtendLease', { requestId, leaseId });
    }
  }

  #extended(requestId: string, newLeaseId: string | undefined): void {
    const call = this.#calls.get(requestId);
    if (!call) return;
    if (newLeaseId) call.request.leaseId = newLeaseId;
    else call.isLost = true;
  }
}
