/** Invokes a function directly, from a step of another run or through the API: creates an event of the service, and one run on it. */

import { ServiceError } from '../../../errors.ts';
import { type Envelope, type Event, type EventRecord, toEnvelope } from '../../../model/events/event.ts';
import { correlationId, FUNCTION_INVOKED } from '../../../model/events/lifecycle.ts';
import { metaOf } from '../../../model/events/sessions.ts';
import type { Decision } from '../../../model/flow-control/decision.ts';
import { newId } from '../../../model/ids.ts';
import { type Op, stepName } from '../../../model/runs/operation.ts';
import { invokedRunId, type Run, runIdOf } from '../../../model/runs/run.ts';
import { Composed } from '../../../model/values/composed.ts';
import { isJsonObject } from '../../../model/values/json.ts';
import type { Claimed } from '../../../store/events/deduplication.ts';
import type { InvocationKey } from '../../../store/runs/invocation-claims.ts';
import type { Store } from '../../../store/store.ts';
import type { Acceptor } from '../../acceptance/acceptor.ts';
import type { FlowControl } from '../../flow-control/flow-control.ts';
import type { RunProposal } from '../../flow-control/run-proposal.ts';
import type { FunctionTables } from '../../functions/function-tables.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { RunStarter } from '../run-starter.ts';
import type { RunTransitions } from '../state-transitions.ts';
import { type InvocationListeners, isListening } from './invocation-listeners.ts';
import { skippedApiError, skippedStepError } from './skipped-invocation.ts';

export interface InvocationsDeps extends Pick<Store, 'ids' | 'events' | 'invocationClaims'> {
  functions: FunctionTables;
  flowControl: Pick<FlowControl, 'decideAll'>;
  starter: RunStarter;
  invocationListeners: InvocationListeners;
  transitions: RunTransitions;
  telemetry: Telemetry;
  /** Includes archived events. */
  history: { events: Pick<Store['events'], 'envelopes'> };
  replicated: Acceptor['writeReplicated'];
  afterwards: Acceptor['afterwards'];
}

export interface ApiInvocation {
  env: string;
  functionId: string;
  payload: Pick<Event, 'data' | 'user' | 'v'>;
  requestId: string;
  nowMs: number;
  /** A second invocation with the same key within a day returns the first one. */
  idempotencyKey?: string | undefined;
}

export interface Invoked {
  eventId: string;
  runId: string;
  /** Whether an earlier invocation had the same key. */
  repeat: boolean;
}

export class Invocations extends Composed<InvocationsDeps> {
  /** Starts the run that a step invokes. Its result finishes the step, and so does a decision not to start it. Idempotent: the IDs of run
   *  and event are derived from the step.
   *  @param cause the event that triggered the invoking run */
  async invokeFromStep(invokingRun: Run, op: Op, cause?: EventRecord): Promise<void> {
    const { env, id: runId } = invokingRun;
    const { ids, functions, transitions } = this.deps;
    const functionId = op.opts?.function_id ?? '';
    const fn = (await functions.of(env)).find(functionId);
    if (!fn || fn.archived) {
      // Apps of the official SDKs match this name and message.
      const error = { name: 'Error', message: `could not find function with ID: ${functionId}` };
      await transitions.finishStep(env, runId, op.id, { error });
      return;
    }
    const now = Date.now();
    const event = invocationEvent(ids.derivedEvent(runId, 'invoke-event', op.id), invokingRun, op, now);
    const invoker = { runId, stepId: op.id };
    const run = { id: invokedRunId(ids, runId, op.id), fn, event, dueAt: now, invoker, cause: 'invocation' as const };
    const skipped = await this.#start(run, event, now, isListening(invokingRun.functionId, cause));
    if (skipped) await transitions.finishStep(env, runId, op.id, { error: skippedStepError(skipped) });
  }

  /** @returns undefined if the function does not exist
   *  @throws ServiceError function_archived, SKIPPED_INVOCATION_ERRORS; with an idempotency key archive_unavailable */
  async invokeFromApi({
    env,
    functionId,
    payload,
    requestId,
    nowMs,
    idempotencyKey,
  }: ApiInvocation): Promise<Invoked | undefined> {
    const fn = (await this.deps.functions.of(env)).find(functionId);
    if (!fn) return undefined;
    if (fn.archived) throw new ServiceError('function_archived', { detail: `"${functionId}" has no live app` });
    const { ids, invocationClaims, afterwards } = this.deps;
    const key = idempotencyKey === undefined ? undefined : { env, functionId, key: idempotencyKey };
    const ownId = newId(nowMs);
    const claimed = key && (await this.#claim(key, ownId));
    const eventId = claimed?.internalId ?? ownId;
    const runId = runIdOf(ids, eventId, functionId);
    if (claimed?.repeat) return { eventId, runId, repeat: true };
    const provenance = { internalId: eventId, env, receivedAt: nowMs, source: 'api', requestId, index: 0 } as const;
    const event = toEnvelope({ name: FUNCTION_INVOKED, ...payload }, provenance);
    const run = { id: runId, fn, event, dueAt: nowMs, cause: 'invocation' as const };
    const skipped = await this.#start(run, event, nowMs);
    // The claim is not confirmed, so the same invocation may start its run later.
    if (skipped) throw skippedApiError(skipped, Date.now());
    if (key) await afterwards(() => invocationClaims.confirm(key, eventId));
    return { eventId, runId, repeat: eventId !== ownId };
  }

  /** Claims the key for the event to invoke with, unless an earlier invocation has it. The process of that one may have died halfway, so the
   *  invocation is repeated until it is confirmed. */
  async #claim(key: InvocationKey, ownId: string): Promise<Claimed> {
    const { invocationClaims, replicated } = this.deps;
    const former = await this.#formerClaim(key);
    // Replicated, because a run whose claim is lost would be started again.
    return former ?? replicated(() => invocationClaims.claim(key, ownId));
  }

  /** The claim of an earlier version. Senders can make one that looks the same, but no event with this name. */
  async #formerClaim(key: InvocationKey): Promise<Claimed | undefined> {
    const { invocationClaims, history } = this.deps;
    const found = await invocationClaims.formerlyClaimed(key);
    if (found.length === 0) return undefined;
    const events = await history.events.envelopes(
      key.env,
      found.map(({ internalId }) => internalId),
    );
    return found.find(({ internalId }) => events.get(internalId)?.name === FUNCTION_INVOKED);
  }

  /** The run starts last: once it has ended, the step has a result, and nothing repeats these writes. @returns why the run does not start;
   *  undefined if it starts */
  async #start(
    run: RunProposal,
    event: Envelope,
    nowMs: number,
    skipsListeners = false,
  ): Promise<Decision | undefined> {
    const { events, flowControl, starter, invocationListeners, telemetry } = this.deps;
    const stored = await events.storeNew([event]);
    const listening = skipsListeners ? [] : await invocationListeners.runsFor(event, run.fn.id, nowMs);
    const repeated = stored.some(({ present }) => present) && { repeated: true };
    const proposals = [run, ...listening].map((proposal) => ({ ...proposal, ...repeated }));
    const { runs, decisions } = await flowControl.decideAll(proposals);
    await events.markIngested(stored, nowMs);
    telemetry.recordIngested(stored, Date.now());
    await invocationListeners.matchWaits(event);
    await starter.start(runs, nowMs);
    if (runs.some(({ id }) => id === run.id)) return undefined;
    return decisions.find(({ functionId }) => functionId === run.fn.id);
  }
}

function invocationEvent(internalId: string, invokingRun: Run, op: Op, nowMs: number): Envelope {
  const { data, user, v } = op.opts?.payload ?? {};
  const meta = metaOf(op.opts?.payload);
  const event = {
    name: FUNCTION_INVOKED,
    data: {
      ...(isJsonObject(data) && data),
      _inngest: {
        fn_id: op.opts?.function_id,
        correlation_id: correlationId({ runId: invokingRun.id, stepId: op.id }),
        name: stepName(op),
        source_fn_id: invokingRun.functionId,
      },
    },
    ...(isJsonObject(user) && { user }),
    ...(typeof v === 'string' && { v }),
    ...(meta && { meta }),
  };
  return toEnvelope(event, {
    internalId,
    env: invokingRun.env,
    receivedAt: nowMs,
    source: 'service',
    requestId: invokingRun.requestId,
    index: 0,
  });
}
