/** The ingest job: stores the events of a few requests once each and starts the runs of every function they trigger.
 *  Running it twice changes nothing: events are stored, and runs enqueued, under IDs derived from the event. */
import { setImmediate } from 'node:timers/promises';
import { PRODUCTION } from '../../model/environment.ts';
import type { Envelope } from '../../model/events/event.ts';
import type { TriggerTable } from '../../model/events/triggers.ts';
import type { Environments } from '../../store/environments/environments.ts';
import type { Events, Stored } from '../../store/events/events.ts';
import { CREATED_AT_ONCE } from '../../store/runs/run-writing.ts';
import type { DecisionLog, FlowControl } from '../flow-control/flow-control.ts';
import type { FunctionTables, KnownFunctions } from '../functions/function-tables.ts';
import { type Matches, type MatchingDeps, matchEvents } from '../matching/event-matcher.ts';
import type { RunStarter } from '../runs/run-starter.ts';
import type { WaitMatcher } from '../runs/steps/wait-matcher.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { type AlreadyArchivedDeps, findAlreadyArchived, isOld } from './already-archived.ts';

/** `startWithEvents` is optional: traced runs need jobs that BullMQ adds. */
type Starter = Pick<RunStarter, 'start'> & Partial<Pick<RunStarter, 'startWithEvents'>>;

/** The matches of events, as far as they are known before the events are stored. */
interface EarlyMatches extends Matches {
  env: string;
  functions: KnownFunctions;
}

export interface IngestDeps extends MatchingDeps {
  environments: Pick<Environments, 'read'>;
  events: Events;
  functions: FunctionTables;
  starter: Starter;
  waitMatcher: WaitMatcher;
  flowControl: Pick<FlowControl, 'decide' | 'passesAll'>;
  decisions: DecisionLog;
  telemetry: Telemetry;
  /** Resolves once a replica has the writes of `work`. */
  replicated<T>(work: () => Promise<T>): Promise<T>;
  /** undefined without an archive. */
  archive?: AlreadyArchivedDeps | undefined;
}

export async function ingest(
  batch: readonly Envelope[],
  deps: IngestDeps,
  starter: Starter = deps.starter,
): Promise<void> {
  const stored = await deps.replicated(() => storeAndStart(batch, deps, starter));
  if (stored.length === 0) return;
  // The first calls are sent in this turn of the event loop, so they go out before the index entry.
  await setImmediate();
  // Only once the runs are on a replica: the index says that an event is completely ingested, and a failover could lose its runs while
  // keeping the index.
  await deps.replicated(async () => {
    const toMatch = await deps.events.markIngested(stored, Date.now());
    deps.telemetry.recordIngested(stored, Date.now());
    await deps.waitMatcher.matchEvents(toMatch);
  });
}

/** @returns the stored events, whose runs are started */
async function storeAndStart(batch: readonly Envelope[], deps: IngestDeps, starter: Starter): Promise<Stored[]> {
  const beganAt = Date.now();
  const events = await withoutDeletedEnvironments(batch, deps.environments);
  if (events.length === 0) return [];
  const early = starter.startWithEvents && (await matchEarly(events, deps));
  if (early && (await startWithEvents(events, early, deps, starter))) return events.map(newlyStored);
  const [stored, tables] = await Promise.all([storeNew(events, deps), tablesOf(events, deps.functions)]);
  const notIngested = stored.filter(({ ingested }) => !ingested);
  const areNew = stored.every(({ present, ingested }) => !present && !ingested);
  const isAsExpected = early && areNew && tables.get(early.env) === early.functions.table;
  const { proposals, decisions } = isAsExpected ? early : await matchEvents(notIngested, tables, deps);
  for (const proposal of proposals) proposal.beganAt = beganAt;
  if (decisions.length > 0) await deps.decisions.add(decisions);
  await starter.start(await deps.flowControl.decide(proposals), Date.now());
  return stored;
}

/** Matches events with the functions in memory, which are hardly ever outdated.
 *  @returns undefined if an event may be stored already, or the functions are not in memory */
async function matchEarly(events: readonly Envelope[], deps: IngestDeps): Promise<EarlyMatches | undefined> {
  const [{ env }] = events as [Envelope];
  const functions = deps.functions.known(env);
  const isNew = (event: Envelope) => event.env === env && !event.repeat && !isOld(event, deps.archive, Date.now());
  if (!functions || !events.every(isNew)) return undefined;
  return { ...(await matchEvents(events.map(newlyStored), new Map([[env, functions.table]]), deps)), env, functions };
}

/** The usual case of events that trigger functions: events and runs are stored in one round trip, if the functions are those in memory.
 *  @returns false: no run has started; the events may be stored */
async function startWithEvents(
  events: readonly Envelope[],
  { proposals, decisions, env, functions: { version } }: EarlyMatches,
  deps: IngestDeps,
  starter: Starter,
): Promise<boolean> {
  const isOneScript = proposals.length > 0 && proposals.length <= CREATED_AT_ONCE;
  if (!isOneScript || decisions.length > 0 || !deps.flowControl.passesAll(proposals)) return false;
  const write = await deps.events.writeOf(events);
  if (!write) return false;
  const hasStarted = await starter.startWithEvents?.(proposals, { write, functionsVersion: version }, Date.now());
  if (hasStarted) deps.functions.confirm(env, version);
  return hasStarted ?? false;
}

function newlyStored(event: Envelope): Stored {
  return { event, repeat: false, ingested: false };
}

async function storeNew(events: readonly Envelope[], deps: Pick<IngestDeps, 'events' | 'archive'>): Promise<Stored[]> {
  if (!deps.archive) return deps.events.storeNew(events);
  const archived = await findAlreadyArchived(events, deps.archive, Date.now());
  if (archived.size === 0) return deps.events.storeNew(events);
  const isArchived = ({ internalId }: Envelope) => archived.has(internalId);
  const former = events
    .filter(isArchived)
    .map((event): Stored => ({ event, repeat: event.repeat === true, present: true, ingested: true }));
  return [...(await deps.events.storeNew(events.filter((event) => !isArchived(event)))), ...former];
}

/** Drops events whose environment was deleted after they were accepted: nobody could read them, and nothing would delete them.
 *  @returns events of existing environments, archived ones included */
async function withoutDeletedEnvironments(
  events: readonly Envelope[],
  environments: Pick<Environments, 'read'>,
): Promise<readonly Envelope[]> {
  const others = new Set(events.map(({ env }) => env));
  others.delete(PRODUCTION);
  if (others.size === 0) return events;
  const deleted = new Set<string>();
  for (const env of others) {
    const environment = await environments.read(env);
    if (!environment || environment.deletingAt !== undefined) deleted.add(env);
  }
  return deleted.size === 0 ? events : events.filter(({ env }) => !deleted.has(env));
}

/** The result is keyed by environment. */
async function tablesOf(events: readonly Envelope[], functions: FunctionTables): Promise<Map<string, TriggerTable>> {
  const envs = [...new Set(events.map(({ env }) => env))];
  const tables = await Promise.all(envs.map((env) => functions.of(env)));
  return new Map(envs.map((env, i) => [env, tables[i] as TriggerTable]));
}
