/** Deploys: the changes that a registration made to an app. A registration that changes nothing is not a deploy. */
import { createHash } from 'node:crypto';
import { isJsonObject } from '../values/json.ts';
import type { AppFunction } from './app.ts';

/** Causes of a registration: a request of the app, its connection, discovery in dev mode, a sync request by a person or API key, or the
 *  activation of an earlier version. */
export const SYNC_KINDS = ['app', 'connection', 'discovery', 'request', 'activation'] as const;

export interface SyncOrigin {
  kind: (typeof SYNC_KINDS)[number];
  /** Name of the requesting principal; only for the kinds `request` and `activation`. */
  name?: string;
}

/** Data that an app reports about itself, without its functions. */
export interface AppFacts {
  url: string;
  /** Name and version of the SDK. */
  sdk?: string | undefined;
  framework?: string | undefined;
  /** Build ID as the app's SDK reports it. */
  deployId?: string | undefined;
}

export const APP_FACTS = ['url', 'sdk', 'framework', 'deployId'] as const satisfies (keyof AppFacts)[];

export interface FactChange {
  fact: (typeof APP_FACTS)[number];
  /** undefined if it was not set before. */
  from?: string | undefined;
}

export interface ChangedFunction {
  id: string;
  /** Names of the configuration fields that changed. */
  fields: string[];
}

export interface FunctionChanges {
  added: string[];
  removed: string[];
  changed: ChangedFunction[];
  /** Number of changed functions that the list leaves out. */
  omitted: number;
}

export interface Deploy extends AppFacts {
  id: string;
  app: string;
  /** Unix milliseconds. */
  at: number;
  by: SyncOrigin;
  /** Whether this is the app's first registration. */
  first: boolean;
  /** Changes of what the app reports about itself. */
  changes: FactChange[];
  functions: FunctionChanges;
  /** Digest of the registered content. Concurrent registrations of the same content by two processes are one deploy. */
  content: string;
}

/** Maximum length of all function IDs and field names listed in a deploy. */
const NAMES_LENGTH_MAX = 2_000;
const FIELDS_MAX = 20;
const FIELD_LENGTH_MAX = 64;

/** Compares two registrations; undefined if they are equal.
 *  @param before undefined for the first registration
 *  @param previous the app's functions so far, including archived ones
 *  @param registered the functions in the new registration
 *  @param removed IDs of functions missing from the new registration */
export function changesOf(
  before: AppFacts | undefined,
  after: AppFacts,
  { previous, registered, removed }: Record<'previous' | 'registered', readonly AppFunction[]> & { removed: string[] },
): Pick<Deploy, 'first' | 'changes' | 'functions'> | undefined {
  const known = new Map(previous.filter(({ archived }) => !archived).map((fn) => [fn.id, fn]));
  const added = registered.filter(({ id }) => !known.has(id)).map(({ id }) => id);
  const changed = registered.flatMap((fn) => {
    const fields = changedFields(known.get(fn.id), fn);
    return fields.length > 0 ? { id: fn.id, fields } : [];
  });
  const changes: FactChange[] = before
    ? APP_FACTS.filter((fact) => differs(fact, before, after)).map((fact) => ({ fact, from: before[fact] }))
    : [];
  const first = before === undefined;
  if (!first && changes.length + added.length + changed.length + removed.length === 0) return undefined;
  return { first, changes, functions: bounded(added, removed, changed) };
}

/** Some kinds of registration do not report the build, so an absent one is not a change. */
function differs(fact: (typeof APP_FACTS)[number], before: AppFacts, after: AppFacts): boolean {
  return before[fact] !== after[fact] && !(fact === 'deployId' && after.deployId === undefined);
}

/** Digest of what an app registered, independent of the order of its functions. */
export function contentOf(facts: AppFacts, registered: readonly AppFunction[]): string {
  const hash = createHash('sha256').update(JSON.stringify(APP_FACTS.map((fact) => facts[fact] ?? null)));
  const byId = registered.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  for (const { config } of byId) hash.update(JSON.stringify(withoutUrl(config)));
  return hash.digest('base64url').slice(0, 22);
}

/** Ignores the URL: a new URL of the app would otherwise change every function. */
function changedFields(before: AppFunction | undefined, after: AppFunction): string[] {
  if (!before) return [];
  const [was, is] = [withoutUrl(before.config), withoutUrl(after.config)];
  const names = new Set([...Object.keys(was), ...Object.keys(is)]);
  const changed = [...names].filter((name) => JSON.stringify(was[name]) !== JSON.stringify(is[name]));
  return changed.slice(0, FIELDS_MAX).map((name) => name.slice(0, FIELD_LENGTH_MAX));
}

function withoutUrl(config: Record<string, unknown>): Record<string, unknown> {
  const { steps } = config;
  if (!isJsonObject(steps)) return config;
  const rest = Object.entries(steps).map(([id, step]) => {
    if (!isJsonObject(step) || !isJsonObject(step.runtime)) return [id, step];
    const { url: _, ...runtime } = step.runtime;
    return [id, { ...step, runtime }];
  });
  return { ...config, steps: Object.fromEntries(rest) };
}

function bounded(added: string[], removed: string[], changed: ChangedFunction[]): FunctionChanges {
  let left = NAMES_LENGTH_MAX;
  const fits = (length: number) => {
    left -= length;
    return left >= 0;
  };
  const functions = {
    added: added.filter((id) => fits(id.length)),
    removed: removed.filter((id) => fits(id.length)),
    changed: changed.filter(({ id, fields }) => fits(id.length + fields.join('').length)),
  };
  const named = functions.added.length + functions.removed.length + functions.changed.length;
  return { ...functions, omitted: added.length + removed.length + changed.length - named };
}
