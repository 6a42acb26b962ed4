/** Parts with which a worker calls apps, and limits these calls. */
import { type ConnectTransport, NoConnection } from '../functions/connect/transport.ts';
import { type DestinationData, FunctionClient } from '../functions/function-client.ts';
import { StepRequestClient } from '../functions/step-request-client.ts';
import { Originals } from '../history/originals.ts';
import { ConnectCaller } from '../jobs/connect/connect-caller.ts';
import { AppLimits } from '../jobs/runs/admission/app-limits.ts';
import { CallLimiter } from '../jobs/runs/admission/call-limiter.ts';
import { FairShares } from '../model/capacity/fair-shares.ts';
import type { Subscriber } from '../store/redis/connection/pub-sub.ts';
import type { Definitions } from './container.ts';
import type { IngestionNeeds, IngestionParts } from './ingestion.ts';
import type { RunServices } from './runs.ts';
import type { SelectionParts } from './selection.ts';

export interface CallClientParts {
  appLimits: AppLimits;
  callLimiter: CallLimiter;
  connectCaller: ConnectCaller;
  originals: Originals;
  functionClient: FunctionClient;
  /** The client of what-ifs, whose calls count for no limit of apps. */
  candidateClient: FunctionClient;
  requestClient: StepRequestClient;
}

export interface CallClientNeeds extends IngestionNeeds, IngestionParts, RunServices, SelectionParts {
  /** Connection used only for subscriptions. */
  subscriber: Subscriber;
}

type Parts = CallClientNeeds & CallClientParts;

/** A call to a candidate only plans. */
const CANDIDATE_TIMEOUT_MS = 15_000;

/** A candidate has a URL. */
const NO_CONNECTIONS: ConnectTransport = {
  call: () => Promise.reject(new NoConnection()),
  abandon() {},
};

/** A candidate is an app. */
const NO_DESTINATIONS: DestinationData = {
  secretsOf: () => ({ signing: [], headers: {} }),
  originalOf: async () => undefined,
};

export const CALL_CLIENTS: Definitions<CallClientParts, CallClientNeeds> = {
  appLimits: ({ config }) => new AppLimits(config.runConcurrency),
  callLimiter,
  connectCaller: { build: connectCaller, close: (caller) => caller.close() },
  originals: (parts) => new Originals(parts),
  functionClient: { build: functionClient, close: (client) => client.close() },
  candidateClient: { build: candidateClient, close: (client) => client.close() },
  requestClient: {
    build: ({ config }) => new StepRequestClient({ timeoutMs: config.callTimeoutMs, outbound: config.outbound }),
    close: (client) => client.close(),
  },
};

function callLimiter({ config, appLimits, queuedRunJobs, log }: Parts): CallLimiter {
  const shares = new FairShares({ ...config, capacity: config.runConcurrency });
  const promote = (jobId: string) => {
    queuedRunJobs
      .promoteDeferred(jobId)
      .catch((error: Error) => log.debug({ err: error.message }, 'a deferred call could not be promoted'));
  };
  return new CallLimiter({ shares, limits: appLimits, promote, waitingMax: config.runConcurrency });
}

function connectCaller(parts: Parts): ConnectCaller {
  const { ids, config, connectCalls, connectChannels, subscriber, log } = parts;
  const caller = new ConnectCaller({
    ids,
    calls: connectCalls,
    channels: connectChannels(subscriber),
    timeoutMs: config.callTimeoutMs,
    leaseMs: config.connect.leaseMs,
    onConnection: ({ env, app, concurrency }) => parts.callLimiter.unblock(env, app, concurrency, Date.now()),
    log,
  });
  caller.start();
  return caller;
}

function functionClient(parts: Parts): FunctionClient {
  const { config, endpointOrigins, connectCaller, appLimits, destinations, originals, tracing } = parts;
  return new FunctionClient({
    ...sharedOptions(parts),
    timeoutMs: config.callTimeoutMs,
    takesLogs: config.runLogs,
    allowsEndpoint: (env, url) => endpointOrigins.allows(env, url),
    connect: connectCaller,
    destinations: {
      secretsOf: (env, fn) => destinations.secretsOf(env, fn, Date.now()),
      originalOf: (webhookId, requestId) => originals.read(webhookId, requestId),
    },
    onEnd: (env, app, call) => appLimits.record(env, app, call),
    tracing,
  });
}

function candidateClient(parts: Parts): FunctionClient {
  return new FunctionClient({
    ...sharedOptions(parts),
    timeoutMs: Math.min(parts.config.callTimeoutMs, CANDIDATE_TIMEOUT_MS),
    takesLogs: false,
    allowsEndpoint: async () => false,
    connect: NO_CONNECTIONS,
    destinations: NO_DESTINATIONS,
  });
}

function sharedOptions({ config, signingKeys, environmentKinds }: Parts) {
  return {
    responseMaxBytes: config.callResponseMaxBytes,
    outbound: config.outbound,
    signingKeyOf: (env: string) => (config.dev ? config.signingKey : signingKeys.current(env)),
    kindOf: (env: string) => environmentKinds.of(env),
    dev: config.dev,
  };
}
