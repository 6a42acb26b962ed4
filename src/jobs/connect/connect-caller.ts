/** Calls functions of apps that connect: reserves a connection for each call, sends the call to the connection's gateway, and waits for
 *  the reply. A call whose connection does not acknowledge it gets another one; a call whose lease expires has failed. Stored state
 *  counts, and messages only save time: every second the states of all calls are read. Life cycle: create, `start`, calls, `abandon` or
 *  `close`. */

import type { CallContext } from '../../functions/call-request.ts';
import { responseOf } from '../../functions/connect/reply.ts';
import { ConnectionLost, type ConnectTransport, NoConnection } from '../../functions/connect/transport.ts';
import type { CallResponse } from '../../functions/http-post.ts';
import type { Logger } from '../../log.ts';
import type { AppFunction } from '../../model/apps/app.ts';
import { newId } from '../../model/ids.ts';
import type { PartitionedIds } from '../../model/partitions/partitioned-ids.ts';
import { machineTime } from '../../model/values/clock.ts';
import { Composed } from '../../model/values/composed.ts';
import type { ConnectChannels } from '../../store/connect/channels.ts';
import type {
  CallKey,
  CallState,
  ConnectCalls,
  GatewayMessage,
  Reservation,
} from '../../store/connect/connect-calls.ts';
import type { ConnectionChange } from '../../store/connect/connections.ts';
import { type CallIdentity, callIdOf } from './call-id.ts';

const CHECK_MS = 1_000;
/** A connection that does not acknowledge a call within this time loses it. */
const ACKNOWLEDGE_MS = 5_000;
/** Maximum number of gateways tried in a row, in case they just died. */
const GATEWAYS_TRIED = 5;
/** Maximum number of replied calls whose outcomes have not taken effect. */
const ANSWERED_MAX = 10_000;
/** Longest delay of a timer, 25 days. */
const TIMER_MAX_MS = 2 ** 31 - 1;

export interface ConnectCallerOptions {
  ids: PartitionedIds;
  calls: ConnectCalls;
  channels: ConnectChannels;
  timeoutMs: number;
  leaseMs: number;
  /** An app has a connection that accepts calls. */
  onConnection: (change: ConnectionChange) => void;
  log: Logger;
}

interface PendingCall extends CallKey {
  fn: AppFunction;
  message: Omit<GatewayMessage, 'connectionId' | 'leaseId'> & { body: string };
  /** Gateway of the connection that this worker chose; undefined if another worker sent the call. */
  gatewayId: string | undefined;
  sentAt: number;
  resolve(response: CallResponse): void;
  reject(error: Error): void;
}

type Assignment = Extract<Reservation, { kind: 'assigned' }>;

export class ConnectCaller extends Composed<ConnectCallerOptions> implements ConnectTransport {
  readonly #id = newId();
  readonly #pending = new Map<string, PendingCall>();
  /** Reserved but not yet called, by job. */
  readonly #reserved = new Map<string, Reservation & CallKey & { version: string | undefined }>();
  /** Calls whose reply has not taken effect yet. */
  readonly #answered = new Map<string, CallKey>();
  #stops: (() => unknown)[] = [];
  /** When Redis last failed to answer: leases that could not be extended in the meantime have not expired. */
  #outageAt = 0;
  #isChecking = false;

  get inProgress(): number {
    return this.#pending.size;
  }

  start(): void {
    const { channels, onConnection } = this.deps;
    const timer = setInterval(() => void this.#checkAll(), CHECK_MS);
    this.#stops = [
      () => clearInterval(timer),
      channels.onCallEvents(this.#id, (callId, refused) => void this.#onEvent(callId, refused)),
      channels.onConnectionChanges(onConnection),
    ];
  }

  /** Reserves a connection before the run is loaded, so that a run without a connection is left alone.
   *  @returns whether the call can be made now */
  async reserve(fn: AppFunction, env: string, identity: CallIdentity): Promise<boolean> {
    const key = { env, callId: callIdOf(this.deps.ids, identity) };
    const reservation = await this.#reserve(fn, key);
    if (reservation.kind === 'none' || reservation.kind === 'full') return false;
    this.#reserved.set(jobKeyOf(identity), { ...reservation, ...key, version: fn.version });
    return true;
  }

  /** Releases the connection if the call was not made, because its run had ended, for example. */
  async releaseUnused(identity: CallIdentity): Promise<void> {
    const reservation = this.#reserved.get(jobKeyOf(identity));
    if (!reservation) return;
    this.#reserved.delete(jobKeyOf(identity));
    if (reservation.kind === 'assigned') await this.deps.calls.finish(reservation).catch(() => undefined);
  }

  async call(
    fn: AppFunction,
    { run, finishedSteps, stepId, jobId }: CallContext,
    body: string,
    trace: Record<string, string>,
  ): Promise<CallResponse> {
    const { env, id: runId, attempt } = run;
    const identity = { runId, finishedSteps, stepId, attempt };
    const reserved = await this.#reservedFor(fn, identity);
    const callId = reserved?.callId ?? callIdOf(this.deps.ids, identity);
    const key = { env, callId };
    const reservation = reserved ?? (await this.#reserve(fn, key));
    const { promise, resolve, reject } = Promise.withResolvers<CallResponse>();
    // It may time out while Redis is slow to take the call, when nothing waits for it yet.
    promise.catch(() => undefined);
    const ids = { callId, callerId: this.#id, env, app: fn.app, functionId: fn.id, runId, jobId };
    const message = { ...ids, stepId: stepId ?? 'step', trace, body };
    const pending = { ...key, fn, message, gatewayId: undefined, sentAt: machineTime(), resolve, reject };
    this.#pending.set(callId, pending);
    const timedOut = () => reject(new DOMException('the call timed out', 'TimeoutError'));
    const timer = setTimeout(timedOut, Math.min(this.deps.timeoutMs, TIMER_MAX_MS));
    try {
      await this.#proceed(pending, reservation);
      return await promise;
    } catch (error) {
      if ((error as Error).name === 'TimeoutError') await this.deps.calls.finish(key).catch(() => undefined);
      throw error;
    } finally {
      clearTimeout(timer);
      this.#pending.delete(callId);
    }
  }

  /** The connection that was reserved before the run was loaded, unless it has another version of the app than the run. */
  async #reservedFor({ version }: AppFunction, identity: CallIdentity): Promise<(Reservation & CallKey) | undefined> {
    const reserved = this.#reserved.get(jobKeyOf(identity));
    if (reserved && reserved.version !== version) return void (await this.releaseUnused(identity));
    this.#reserved.delete(jobKeyOf(identity));
    return reserved;
  }

  /** Call when the outcome has taken effect. */
  async finish(identity: CallIdentity): Promise<void> {
    if (this.#answered.size === 0) return;
    const callId = callIdOf(this.deps.ids, identity);
    const key = this.#answered.get(callId);
    if (!key) return;
    this.#answered.delete(callId);
    // If this fails, the call expires.
    await this.deps.calls.finish(key).catch(() => undefined);
  }

  /** Leaves all calls to other workers, which wait for the same replies. */
  abandon(): void {
    this.#pending.clear();
  }

  async close(): Promise<void> {
    await Promise.all(this.#stops.map((stop) => stop()));
    this.#stops = [];
  }

  #reserve({ app, id: functionId, version }: AppFunction, key: CallKey, replacedLease?: string): Promise<Reservation> {
    const { calls } = this.deps;
    return calls.reserve({
      ...{ ...key, app, functionId, version, callerId: this.#id },
      ...{ acknowledgeMs: ACKNOWLEDGE_MS, replacedLease },
    });
  }

  /** Sends the call to the reserved connection, or waits for the reply to a call sent earlier. */
  async #proceed(pending: PendingCall, first: Reservation): Promise<void> {
    let reservation = first;
    for (let tries = 0; tries < GATEWAYS_TRIED; tries++) {
      if (reservation.kind === 'pending') {
        pending.gatewayId = undefined;
        pending.sentAt = machineTime();
        return this.#checkOne(pending);
      }
      if (reservation.kind !== 'assigned') break;
      if (await this.#send(pending, reservation)) return;
      reservation = await this.#reserve(pending.fn, pending, reservation.leaseId);
    }
    const { app, id, version } = pending.fn;
    throw new NoConnection(`no connection of the app "${app}" takes calls of ${id} now`, version);
  }

  async #send(pending: PendingCall, { connectionId, gatewayId, leaseId }: Assignment): Promise<boolean> {
    pending.gatewayId = gatewayId;
    pending.sentAt = machineTime();
    return this.deps.calls.send(gatewayId, { ...pending.message, connectionId, leaseId });
  }

  async #onEvent(callId: string, refusedLease: string | undefined): Promise<void> {
    const pending = this.#pending.get(callId);
    if (!pending) return;
    try {
      await this.#checkOne(pending, refusedLease);
    } catch (error) {
      this.#onError(pending, error as Error);
    }
  }

  async #checkOne(pending: PendingCall, refusedLease?: string): Promise<void> {
    const [state] = await this.deps.calls.states([pending]);
    await this.#check(pending, state, state !== undefined && state.leaseId === refusedLease);
  }

  async #checkAll(): Promise<void> {
    if (this.#isChecking || this.#pending.size === 0) return;
    this.#isChecking = true;
    const all = [...this.#pending.values()];
    try {
      const states = await this.deps.calls.states(all);
      const unacknowledged = all.filter((_, i) => states[i] && !states[i].acknowledged && !states[i].hasReply);
      const gatewayIds = new Set(unacknowledged.flatMap(({ gatewayId }) => gatewayId ?? []));
      const dead = await this.deps.calls.deadGateways([...gatewayIds]);
      for (const [i, pending] of all.entries()) {
        const isRefused = pending.gatewayId !== undefined && dead.has(pending.gatewayId);
        await this.#check(pending, states[i], isRefused).catch((error: Error) => this.#onError(pending, error));
      }
    } catch (error) {
      this.#outageAt = machineTime();
      this.deps.log.debug({ err: (error as Error).message }, 'calls over connections could not be checked');
    } finally {
      this.#isChecking = false;
    }
  }

  /** @param isRefused whether the connection refused the call; ignored if it has acknowledged it */
  async #check(pending: PendingCall, state: CallState | undefined, isRefused: boolean): Promise<void> {
    const { calls, leaseMs } = this.deps;
    if (!this.#pending.has(pending.callId)) return;
    if (!state) throw new ConnectionLost('the call is no longer known');
    if (state.hasReply) return this.#takeReply(pending);
    const now = machineTime();
    if (!state.acknowledged) {
      if (!isRefused && now < pending.sentAt + ACKNOWLEDGE_MS) return;
      return this.#proceed(pending, await this.#reserve(pending.fn, pending, state.leaseId));
    }
    if (now < state.until || now < this.#outageAt + leaseMs) return;
    if (await calls.lose(pending)) {
      throw new ConnectionLost('the instance that worked on the call has stopped responding');
    }
  }

  async #takeReply(pending: PendingCall): Promise<void> {
    const { env, callId } = pending;
    const bytes = await this.deps.calls.readReply(pending);
    if (!bytes || !this.#pending.has(callId)) return;
    // Leftovers, whose outcome Redis rejected, expire.
    if (this.#answered.size >= ANSWERED_MAX) this.#answered.clear();
    this.#answered.set(callId, { env, callId });
    pending.resolve(responseOf(bytes, pending.fn.dialect));
  }

  #onError(pending: PendingCall, error: Error): void {
    if (error instanceof NoConnection || error instanceof ConnectionLost) pending.reject(error);
    // Redis is down; the next check follows.
    else this.#outageAt = machineTime();
  }
}

/** The job of a call, without attempts: after a checkpoint, the attempts reported to the app differ from those of the job. */
function jobKeyOf({ runId, finishedSteps, stepId }: CallIdentity): string {
  return `${runId} ${finishedSteps} ${stepId}`;
}
