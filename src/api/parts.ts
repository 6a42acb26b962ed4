/** The parts that routes use, by name. */
import type { Archive } from '../archive/archive.ts';
import type { Config } from '../config.ts';
import type { HttpAgent } from '../functions/http-agent.ts';
import type { AcceptedEvents } from '../history/accepted-events.ts';
import type { History } from '../history/history.ts';
import type { Searches } from '../history/searches.ts';
import type { StorageUses } from '../history/storage-use.ts';
import type { Acceptor } from '../jobs/acceptance/acceptor.ts';
import type { AlertSender } from '../jobs/alerts/alert-sender.ts';
import type { ArchiveHealth } from '../jobs/archive/archive-health.ts';
import type { SelectedRuns } from '../jobs/bulk/selected-runs.ts';
import type { ClockMoves } from '../jobs/dev-clock/clock-moves.ts';
import type { Admission } from '../jobs/flow-control/admission.ts';
import type { ExplainedDecisions } from '../jobs/flow-control/explained-decisions.ts';
import type { FunctionLanes } from '../jobs/flow-control/function-lanes.ts';
import type { LimitStatuses } from '../jobs/flow-control/limit-status.ts';
import type { TimerChecks } from '../jobs/flow-control/timer-checks.ts';
import type { ExpressionEvaluator } from '../jobs/functions/expression-evaluator.ts';
import type { FunctionTables } from '../jobs/functions/function-tables.ts';
import type { Backpressure } from '../jobs/queues/backpressure.ts';
import type { PartitionQueues } from '../jobs/queues/partition-queues.ts';
import type { ReplayPlanner } from '../jobs/replays/planner.ts';
import type { CallCheckpoints } from '../jobs/runs/calls/checkpoints.ts';
import type { Endpoints } from '../jobs/runs/calls/endpoints.ts';
import type { RunRetries } from '../jobs/runs/changes/run-retries.ts';
import type { RunMoves } from '../jobs/runs/changes/version-moves.ts';
import type { RunStates } from '../jobs/runs/run-states.ts';
import type { RunTransitions } from '../jobs/runs/state-transitions.ts';
import type { Invocations } from '../jobs/runs/steps/invocations.ts';
import type { SignalSender } from '../jobs/runs/steps/signal-sender.ts';
import type { Telemetry } from '../jobs/telemetry/telemetry.ts';
import type { Schedules } from '../jobs/timers/schedules.ts';
import type { Logger } from '../log.ts';
import type { FetchDocument } from '../providers/verification/verification.ts';
import type { Store } from '../store/store.ts';
import type { Transforms } from '../transforms/transforms.ts';
import type { Activation } from './apps/activation.ts';
import type { AppChanges } from './apps/app-changes.ts';
import type { Registrar } from './apps/registrar.ts';
import type { AppSync } from './apps/sync.ts';
import type { Accounts } from './auth/accounts.ts';
import type { IdentityProviders } from './auth/oidc/identity-providers.ts';
import type { WebhookFilters } from './receive/filter-webhook.ts';
import type { LargeBodies } from './receive/large-bodies.ts';
import type { WebhookOrders } from './receive/order-webhook.ts';
import type { RequestLogWriter } from './receive/request-log-writer.ts';
import type { Route } from './rest/route.ts';

/** The parts that the process builds for routes. */
export interface ApiServices {
  config: Config;
  store: Store;
  /** undefined: Redis keeps everything. */
  archive: Archive | undefined;
  history: History;
  functionTables: FunctionTables;
  webhookFilters: WebhookFilters;
  webhookOrders: WebhookOrders;
  transforms: Transforms;
  acceptor: Acceptor;
  backpressure: Backpressure;
  archiveHealth: ArchiveHealth;
  requestLogWriter: RequestLogWriter;
  largeBodies: LargeBodies;
  telemetry: Telemetry;
  transitions: RunTransitions;
  retries: RunRetries;
  runMoves: RunMoves;
  limitStatuses: LimitStatuses;
  functionLanes: FunctionLanes;
  timerChecks: Pick<TimerChecks, 'checkNow'>;
  runStates: RunStates;
  replayPlanner: ReplayPlanner;
  searches: Searches;
  selectedRuns: SelectedRuns;
  acceptedEvents: AcceptedEvents;
  explainedDecisions: ExplainedDecisions;
  storageUses: StorageUses;
  accounts: Accounts;
  identityProviders: IdentityProviders;
  appSync: AppSync;
  evaluator: ExpressionEvaluator;
  invocations: Invocations;
  callCheckpoints: CallCheckpoints;
  endpoints: Endpoints;
  signalSender: SignalSender;
  httpAgent: HttpAgent;
  fetchDocument: FetchDocument;
  activation: Activation;
  appChanges: AppChanges;
  registrar: Registrar;
  admission: Pick<Admission, 'noteChange'>;
  schedules: Schedules;
  alertSender: AlertSender;
  queues: PartitionQueues;
  /** undefined in production. */
  clockMoves: ClockMoves | undefined;
  log: Logger;
}

const SETTINGS = [
  'connect',
  'dev',
  'eventMaxBytes',
  'eventMaxFutureMs',
  'port',
  'publicUrl',
  'quotas',
  'retentionMs',
  'settings',
  'traceUrlTemplate',
] as const satisfies (keyof Config)[];

/** Services, some settings, and all stored data, both hot and archived. */
export type ApiParts = ApiServices &
  Pick<Config, (typeof SETTINGS)[number]> &
  Omit<Store, keyof ApiServices | keyof History> &
  History;

/** The routes of all files of a feature. */
export type Feature = readonly ((parts: ApiParts) => Route[])[];

export function apiParts<Services extends ApiServices>(services: Services): Services & ApiParts {
  const { config, store, history } = services;
  const settings = Object.fromEntries(SETTINGS.map((name) => [name, config[name]]));
  // The container is not copied, because services are built when they are first used.
  return Object.create(services, Object.getOwnPropertyDescriptors({ ...store, ...history, ...settings }));
}
