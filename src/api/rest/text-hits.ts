/** Possible meanings of a text: an ID or its beginning, an event name, a function, part of an error, a value of a payload. */
import { isArchiveUnavailable } from '../../errors.ts';
import type { AcceptedEvents } from '../../history/accepted-events.ts';
import type { History } from '../../history/history.ts';
import type { StoppedEarly } from '../../history/merged-page.ts';
import { withinPrefix } from '../../history/search-range.ts';
import type { Searches } from '../../history/searches.ts';
import type { FunctionTables } from '../../jobs/functions/function-tables.ts';
import { ID_PATTERN } from '../../model/ids.ts';
import type { Run } from '../../model/runs/run.ts';
import { beginsWith, isWildcard, mentions } from '../../model/search/filters.ts';
import { ID_PREFIX_PATTERN } from '../../model/search/id-prefix.ts';
import { parseSearch } from '../../model/search/parse.ts';
import { payloadCondition } from '../../model/search/payload-condition.ts';
import type { FoundEvent } from '../../store/events/events.ts';
import { time } from '../http/validation.ts';

export interface TextHitDeps {
  acceptedEvents: Pick<AcceptedEvents, 'read'>;
  eventLists: History['eventLists'];
  eventCounts: History['eventCounts'];
  runs: History['runs'];
  searches: Searches;
  functionTables: FunctionTables;
}

/** Kinds in the order of the response. */
export const HIT_KINDS = [
  'event',
  'run',
  'events_by_prefix',
  'runs_by_prefix',
  'deduplication_id',
  'event_name',
  'function',
  'error',
  'payload',
] as const;
type HitKind = (typeof HIT_KINDS)[number];

export interface Hit {
  /** ID of an event or a run; undefined: a name or a function. */
  id?: string | undefined;
  /** Name of an event, or of the function of a run. */
  name: string;
  status?: string;
  at?: string | null;
}

export interface Hits {
  kind: HitKind;
  /** Path, with parameters, of the list that shows all hits. */
  list: string;
  hits: Hit[];
}

const HITS = 5;
const NAMES_MAX = 1_000;
/** Maximum time per search. */
const SEARCH_MS = 1_000;
/** Shorter prefixes match nearly all IDs. */
const PREFIX_MIN = 4;
const ERROR_MIN = 3;
/** Newest events whose fields are compared. */
const EVENTS_KNOWN = 20;

interface TextQuery {
  deps: TextHitDeps;
  env: string;
  principal: string;
  text: string;
  /** Upper case, as IDs are written. */
  id: string;
  nowMs: number;
}

/** The hits of one source; undefined: the text cannot be one of them. */
type Found = (Omit<Hits, 'kind'> & { stoppedEarly?: StoppedEarly | undefined }) | undefined;

const SOURCES: Record<HitKind, (query: TextQuery) => Promise<Found>> = {
  async event({ deps, env, id }) {
    if (!ID_PATTERN.test(id)) return undefined;
    const event = await deps.acceptedEvents.read(env, id);
    return { list: `/v1/events?id=${id}`, hits: event ? [hitOfEvent(event)] : [] };
  },
  async run({ deps, env, id }) {
    if (!ID_PATTERN.test(id)) return undefined;
    const run = await deps.runs.read(env, id);
    return { list: `/v1/runs?id_prefix=${id}`, hits: run ? [hitOfRun(run)] : [] };
  },
  async events_by_prefix({ deps, id, nowMs, ...query }) {
    const timeRange = isPrefix(id) ? withinPrefix({}, id, false) : undefined;
    if (!timeRange) return undefined;
    const node = beginsWith('internal_id', id);
    const { found, stoppedEarly } = await deps.searches.events({ ...bounded(query), node, timeRange }, nowMs);
    return { list: `/v1/events?id_prefix=${id}`, hits: found.map(hitOfEvent), stoppedEarly };
  },
  async runs_by_prefix({ deps, id, nowMs, ...query }) {
    const timeRange = isPrefix(id) ? withinPrefix({}, id, true) : undefined;
    if (!timeRange) return undefined;
    const search = { ...bounded(query), node: beginsWith('run_id', id), functionIds: undefined, timeRange };
    const { found, stoppedEarly } = await deps.searches.runs(search, nowMs);
    return { list: `/v1/runs?id_prefix=${id}`, hits: found.map(hitOfRun), stoppedEarly };
  },
  async deduplication_id({ deps, env, text }) {
    const { events, stoppedEarly } = await deps.eventLists.listById(text, { env, timeRange: {}, limit: HITS });
    const hits = events.filter((event) => event.id === text).map(hitOfEvent);
    return { list: `/v1/events?id=${encodeURIComponent(text)}`, hits, stoppedEarly };
  },
  async event_name({ deps, env, text, nowMs }) {
    const { names, stoppedEarly } = await deps.eventCounts.names(env, NAMES_MAX, nowMs);
    const matches = matcherOfNames(text);
    const hits = names.filter(({ name }) => matches(name)).map(({ name, lastAt }) => ({ name, at: time(lastAt) }));
    const list = isWildcard(text) ? `/v1/events?name=${encodeURIComponent(text)}` : '/v1/events/names';
    return { list, hits, stoppedEarly };
  },
  async function({ deps, env, text }) {
    const ids = [...(await deps.functionTables.of(env)).all()].map(({ id }) => id);
    const list = isWildcard(text) ? `/v1/runs?function_id=${encodeURIComponent(text)}` : '/v1/functions';
    return { list, hits: ids.filter(matcherOfNames(text)).map((name) => ({ name })) };
  },
  async error({ deps, text, nowMs, ...query }) {
    if (text.length < ERROR_MIN || isWildcard(text)) return undefined;
    const failed = { node: mentions('error', text), functionIds: undefined, statuses: ['Failed' as const] };
    const { found, stoppedEarly } = await deps.searches.runs({ ...bounded(query), ...failed, timeRange: {} }, nowMs);
    const list = `/v1/runs?status=Failed&error=${encodeURIComponent(text)}`;
    return { list, hits: found.map(hitOfRun), stoppedEarly };
  },
  async payload({ deps, text, id, nowMs, ...query }) {
    if (ID_PATTERN.test(id) || isWildcard(text)) return undefined;
    const newest = { env: query.env, timeRange: {}, limit: EVENTS_KNOWN };
    const condition = payloadCondition((await deps.eventLists.list(newest, nowMs)).events, text);
    if (condition === undefined) return undefined;
    const search = { ...bounded(query), node: parseSearch(condition, 'events'), timeRange: {} };
    const { found, stoppedEarly } = await deps.searches.events(search, nowMs);
    return { list: `/v1/events?search=${encodeURIComponent(condition)}`, hits: found.map(hitOfEvent), stoppedEarly };
  },
};

export async function hitsOf(
  deps: TextHitDeps,
  caller: { env: string; principal: string },
  text: string,
  nowMs: number,
): Promise<{ hits: Hits[]; stoppedEarly: StoppedEarly | undefined }> {
  const all: Hits[] = [];
  let stoppedEarly: StoppedEarly | undefined;
  for (const kind of HIT_KINDS) {
    try {
      const found = await SOURCES[kind]({ deps, ...caller, text, id: text.toUpperCase(), nowMs });
      stoppedEarly ??= found?.stoppedEarly;
      if (found && found.hits.length > 0) all.push({ kind, list: found.list, hits: found.hits.slice(0, HITS) });
    } catch (error) {
      if (!isArchiveUnavailable(error)) throw error;
      stoppedEarly = 'archive_unavailable';
    }
  }
  return { hits: all, stoppedEarly };
}

const bounded = ({ env, principal }: { env: string; principal: string }) => {
  return { env, principal, limit: HITS, timeoutMs: SEARCH_MS };
};

function isPrefix(id: string): boolean {
  return !ID_PATTERN.test(id) && id.length >= PREFIX_MIN && ID_PREFIX_PATTERN.test(id);
}

/** `order/*` matches functions with this prefix; another text matches functions that contain it in upper or lower case. */
function matcherOfNames(text: string): (name: string) => boolean {
  const query = (isWildcard(text) ? text.slice(0, -1) : text).toLowerCase();
  return isWildcard(text)
    ? (name) => name.toLowerCase().startsWith(query)
    : (name) => name.toLowerCase().includes(query);
}

function hitOfEvent({ internal_id, name, received_at }: FoundEvent): Hit {
  return { id: internal_id, name, at: time(received_at) };
}

function hitOfRun({ id, functionId, status, queuedAt }: Run): Hit {
  return { id, name: functionId, status, at: time(queuedAt) };
}
