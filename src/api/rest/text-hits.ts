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
import { addFields, type Field } from '../../model/search/field-paths.ts';
import { beginsWith, isWildcard, mentions } from '../../model/search/filters.ts';
import { ID_PREFIX_PATTERN } from '../../model/search/id-prefix.ts';
import { LENGTH_MAX, parseSearch } from '../../model/search/parse.ts';
import { SearchError } from '../../model/search/search-error.ts';
import type { FoundEvent } from '../../store/events/events.ts';
import { time } from '../views/time.ts';

export interface TextHitDeps {
  acceptedEvents: Pick<AcceptedEvents, 'read'>;
  eventLists: History['eventLists'];
  eventCounts: History['eventCounts'];
  runs: History['runs'];
  searches: Searches;
  functionTables: FunctionTables;
}

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

export interface Hit {
  /** ID of an event or a run; undefined: a name or a function. */
  id?: string | undefined;
  /** Name of an event, or of the function of a run. */
  name: string;
  status?: string;
  at?: string | null;
}

export interface Hits {
  kind: (typeof HIT_KINDS)[number];
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
/** Newest events whose fields are known, and fields that are compared. */
const EVENTS_KNOWN = 20;
const FIELDS_KNOWN = 200;
/** Senders choose the names of fields: longer paths are not compared. */
const PATH_MAX = 100;
const FIELDS_COMPARED = 20;

export async function hitsOf(
  { acceptedEvents: events, eventLists, eventCounts, runs, searches, functionTables }: TextHitDeps,
  { env, principal }: { env: string; principal: string },
  text: string,
  nowMs: number,
): Promise<{ hits: Hits[]; stoppedEarly: StoppedEarly | undefined }> {
  const found: Hits[] = [];
  let stoppedEarly: StoppedEarly | undefined;
  const add = (kind: Hits['kind'], list: string, hits: readonly Hit[]) => {
    if (hits.length > 0) found.push({ kind, list, hits: hits.slice(0, HITS) });
  };
  /** @returns undefined if the archive is unavailable */
  const tried = async <T>(read: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await read();
    } catch (error) {
      if (!isArchiveUnavailable(error)) throw error;
      stoppedEarly = 'archive_unavailable';
      return undefined;
    }
  };
  const id = text.toUpperCase();
  const query = encodeURIComponent(text);

  if (ID_PATTERN.test(id)) {
    const event = await tried(() => events.read(env, id));
    add('event', `/v1/events?id=${id}`, event ? [hitOfEvent(event)] : []);
    const run = await tried(() => runs.read(env, id));
    add('run', `/v1/runs?id_prefix=${id}`, run ? [hitOfRun(run)] : []);
  } else if (id.length >= PREFIX_MIN && ID_PREFIX_PATTERN.test(id)) {
    const common = { env, principal, limit: HITS, timeoutMs: SEARCH_MS };
    const ofEvents = withinPrefix({}, id, false);
    if (ofEvents) {
      const page = await searches.events(
        { ...common, node: beginsWith('internal_id', id), timeRange: ofEvents },
        nowMs,
      );
      stoppedEarly ??= page.stoppedEarly;
      add('events_by_prefix', `/v1/events?id_prefix=${id}`, page.found.map(hitOfEvent));
    }
    const ofRuns = withinPrefix({}, id, true);
    if (ofRuns) {
      const node = beginsWith('run_id', id);
      const page = await searches.runs({ ...common, node, functionIds: undefined, timeRange: ofRuns }, nowMs);
      stoppedEarly ??= page.stoppedEarly;
      add('runs_by_prefix', `/v1/runs?id_prefix=${id}`, page.found.map(hitOfRun));
    }
  }

  const named = await tried(() => eventLists.listById(text, { env, timeRange: {}, limit: HITS }));
  stoppedEarly ??= named?.stoppedEarly;
  add(
    'deduplication_id',
    `/v1/events?id=${query}`,
    named?.events.filter((event) => event.id === text).map(hitOfEvent) ?? [],
  );

  const matches = matcherOfNames(text);
  const names = await eventCounts.names(env, NAMES_MAX, nowMs);
  stoppedEarly ??= names.stoppedEarly;
  add(
    'event_name',
    isWildcard(text) ? `/v1/events?name=${query}` : '/v1/events/names',
    names.names.filter(({ name }) => matches(name)).map(({ name, lastAt }) => ({ name, at: time(lastAt) })),
  );
  const functionIds = [...(await functionTables.of(env)).all()].map((fn) => fn.id);
  add(
    'function',
    isWildcard(text) ? `/v1/runs?function_id=${query}` : '/v1/functions',
    functionIds.filter(matches).map((name) => ({ name })),
  );

  if (text.length >= ERROR_MIN && !isWildcard(text)) {
    const page = await searches.runs(
      {
        env,
        principal,
        node: mentions('error', text),
        functionIds: undefined,
        statuses: ['Failed'],
        timeRange: {},
        limit: HITS,
        timeoutMs: SEARCH_MS,
      },
      nowMs,
    );
    stoppedEarly ??= page.stoppedEarly;
    add('error', `/v1/runs?status=Failed&error=${query}`, page.found.map(hitOfRun));
  }

  const isId = ID_PATTERN.test(id) || isWildcard(text);
  const newest = isId
    ? undefined
    : await tried(() => eventLists.list({ env, timeRange: {}, limit: EVENTS_KNOWN }, nowMs));
  const condition = newest && payloadCondition(newest.events, text);
  if (condition !== undefined) {
    const node = parseSearch(condition, 'events');
    const page = await searches.events(
      { env, principal, node, timeRange: {}, limit: HITS, timeoutMs: SEARCH_MS },
      nowMs,
    );
    stoppedEarly ??= page.stoppedEarly;
    add('payload', `/v1/events?search=${encodeURIComponent(condition)}`, page.found.map(hitOfEvent));
  }
  return { hits: found, stoppedEarly };
}

/** Whether a field that the events have is the text: an order number, a customer.
 *  @returns a condition of searches; undefined: they have no such fields */
function payloadCondition(events: readonly { data: unknown }[], text: string): string | undefined {
  const fields = new Map<string, Field>();
  for (const { data } of events) addFields(fields, 'data', data, FIELDS_KNOWN);
  const isNumber = /^-?\d{1,15}$/.test(text);
  const compared = [...fields.values()]
    .filter(({ path, type }) => path.length <= PATH_MAX && (type === 'text' || (isNumber && type === 'number')))
    .filter(({ path }) => isSearchable(`${path} == 0`))
    .map(({ path, type }) => `${path} == ${type === 'text' ? JSON.stringify(text) : text}`);
  let condition = '';
  for (const one of compared.slice(0, FIELDS_COMPARED)) {
    const longer = condition === '' ? one : `${condition} || ${one}`;
    if (longer.length > LENGTH_MAX) break;
    condition = longer;
  }
  return condition === '' || !isSearchable(condition) ? undefined : condition;
}

function isSearchable(condition: string): boolean {
  try {
    parseSearch(condition, 'events');
    return true;
  } catch (error) {
    if (error instanceof SearchError) return false;
    throw error;
  }
}

/** For `order/*`, functions with this prefix; for other texts, functions that contain it in upper or lower case. */
function matcherOfNames(text: string): (name: string) => boolean {
  const sought = (isWildcard(text) ? text.slice(0, -1) : text).toLowerCase();
  return isWildcard(text)
    ? (name) => name.toLowerCase().startsWith(sought)
    : (name) => name.toLowerCase().includes(sought);
}

function hitOfEvent({ internal_id, name, received_at }: FoundEvent): Hit {
  return { id: internal_id, name, at: time(received_at) };
}

function hitOfRun({ id, functionId, status, queuedAt }: Run): Hit {
  return { id, name: functionId, status, at: time(queuedAt) };
}
