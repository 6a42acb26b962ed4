/** Runs calls of an app's functions, however they reach the app. */

import type { AppRequest } from './app-request.ts';
import type { Call } from './call.ts';
import { readCall } from './call.ts';
import { Checkpoints, type SendCheckpoint } from './checkpoints.ts';
import { ServeError } from './errors.ts';
import type { OneOrMany } from './events.ts';
import type { TidegateFunction } from './function-types.ts';
import { HEADERS } from './headers.ts';
import { LogCollector } from './log-collector.ts';
import { type MessageToPublish, publish } from './publish.ts';
import { compositeId } from './registration.ts';
import { type Outcome, outcomeOf, runCall } from './run-call.ts';
import { seedOfStep } from './seed.ts';
import type { SendOptions, SendResult } from './send.ts';
import { sendLogs } from './send-logs.ts';
import type { Settings } from './settings.ts';
import { sendSignal } from './signals.ts';
import type { Target } from './signature.ts';

/** The part of a client that hosting functions needs. */
export interface AppClient {
  readonly id: string;
  settings(): Settings;
  send(events: OneOrMany<never>, options: SendOptions): Promise<SendResult>;
}

/** The app that `serve` and `connect` host. */
export interface HostedApp {
  client: AppClient;
  functions: readonly TidegateFunction[];
}

/** A call as it reached the app. */
export interface IncomingCall extends Target, Pick<AppRequest, 'waitUntil'> {
  /** JSON. */
  body: string;
  /** Default: by a request. */
  sendCheckpoint?: SendCheckpoint;
}

export interface AppCalls {
  /** Includes functions that handle failures. */
  functions: readonly TidegateFunction[];
  /** @throws ServeError if it reaches no function */
  run(call: IncomingCall, settings: Settings): Promise<Outcome>;
}

const STEP_ITSELF = 'step';

/** @throws TypeError if two functions share an id, or one belongs to another app */
export function createAppCalls({ client, functions: given }: HostedApp, framework: string): AppCalls {
  const functions = given.flatMap((fn) => (fn.onFailure ? [fn, fn.onFailure] : [fn]));
  const byId = indexById(client, functions);
  const checkpoints = new Checkpoints(framework);
  return {
    functions,
    async run({ body, fnId, stepId, waitUntil, sendCheckpoint }, settings) {
      const call = await readCall(body, settings);
      const fn = byId.get(fnId);
      if (!fn) throw new ServeError(500, `The app has no function "${fnId}"; register it again`);
      const step = stepId === STEP_ITSELF ? undefined : stepId;
      const logs = takesLogs(call, fn, settings) ? new LogCollector() : undefined;
      const deps = {
        logger: settings.logger,
        logs,
        sendEvents: sendFrom(client, fn),
        publish: (message: MessageToPublish, runId: string) => publish(message, runId, settings),
        sendSignal: (signal: string, data: unknown) => sendSignal(signal, data, settings),
      };
      const sendCollected = () => logs && sendLogs(call, logs, settings, { waitUntil });
      const kept = checkpoints.of(call, step, fn, settings, { onStored: sendCollected, send: sendCheckpoint });
      const progress = await runCall(fn, call, step, { ...deps, checkpoints: kept });
      const outcome = outcomeOf(progress, { errorSource: settings.errorSource, unstored: kept?.unstored });
      await sendCollected();
      return outcome;
    },
  };
}

/** The response to a call that reached no function. The service may retry, because a deploy can fix the app. */
export function refusal(error: Error): Outcome {
  const status = error instanceof ServeError ? error.status : 500;
  const body = JSON.stringify({ name: error.name, message: error.message });
  return { status, headers: { [HEADERS.noRetry]: 'false' }, body };
}

function indexById(client: AppClient, functions: readonly TidegateFunction[]): ReadonlyMap<string, TidegateFunction> {
  const foreign = functions.find(({ appId }) => appId !== client.id);
  if (foreign) throw new TypeError(`Function "${foreign.id}" is of the app "${foreign.appId}", not "${client.id}"`);
  const byId = new Map(functions.map((fn) => [compositeId(fn), fn]));
  if (byId.size < functions.length) throw new TypeError('Two functions of the app have the same id');
  return byId;
}

/** Unless the app says otherwise, logs are not sent if a middleware encodes values for the service: the logs may contain secret values. */
function takesLogs(call: Call, { middleware }: TidegateFunction, { logs }: Settings): boolean {
  return call.takesLogs && (logs ?? !middleware.some(({ encode }) => encode));
}

/** The seed depends only on run and step: if a response is lost, the next attempt creates no duplicate events. */
function sendFrom(client: AppClient, { id, middleware }: TidegateFunction) {
  return (events: OneOrMany<unknown>, { runId, event }: Call, hashedStepId: string) => {
    const seed = seedOfStep(runId, hashedStepId, event.ts ?? 0);
    return client.send(events as OneOrMany<never>, { seed, within: { id, runId, middleware } });
  };
}
