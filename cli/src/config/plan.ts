/** The changes that `apply` would make: the differences between the document and the service. */
import type { Json } from '../api-client.ts';
import { type Document, type Entry, identityOf, isObject, KINDS, type Kind } from './document.ts';
import { type Installation, isSameSet, type Present } from './installation.ts';
import { hasSecrets } from './references.ts';

const PRODUCTION = 'production';
/** Fields whose order does not matter. */
const SETS: ReadonlySet<string> = new Set([
  'methods',
  'allowed_origins',
  'events',
  'forward_headers',
  'to',
  'channels',
]);
/** What the service has anyway, in other words: an entry without settings is as good as none. */
const SETTINGS: ReadonlySet<Kind> = new Set(['functions', 'alert_rules']);
/** Objects to which the service adds nothing. */
const WHOLE: ReadonlySet<string> = new Set(['flow']);

export interface FieldChange {
  field: string;
  before: Json;
  after: Json;
}

export interface Change {
  action: 'create' | 'update' | 'delete';
  kind: Kind;
  /** The wanted state; for a deletion, the present one. */
  entry: Entry;
  /** The ID in the API; undefined: it does not exist yet. */
  id: string | undefined;
  version?: number | undefined;
  fields: FieldChange[];
  /** Why it cannot be done; undefined: it can. */
  blockedBy?: string;
}

export interface Plan {
  changes: Change[];
  /** Objects that the service has and the document does not. */
  unmanaged: Unmanaged[];
}

export interface Unmanaged {
  kind: Kind;
  entry: Entry;
  id: string;
  /** An API key only: the requests of this program are made with it. */
  isInUse: boolean;
}

export interface PlanOptions {
  /** Delete what the document does not have. */
  prune: boolean;
  /** Sets the secrets of webhooks again, although a difference cannot be seen. */
  setSecrets: boolean;
}

export function planOf(document: Document, installation: Installation, options: PlanOptions): Plan {
  const plan: Plan = { changes: [], unmanaged: [] };
  for (const kind of KINDS) {
    const wanted = document[kind];
    if (!wanted) continue;
    const named = new Set(wanted.map(identityOf));
    for (const entry of wanted) {
      const present = installation[kind].get(identityOf(entry));
      const fields = present ? changedFields(kind, present, entry, options) : initialFields(entry);
      if (fields.length === 0 && (present || SETTINGS.has(kind))) continue;
      const change: Change = {
        action: present ? 'update' : 'create',
        kind,
        entry,
        id: present?.id,
        version: present?.version,
        fields,
      };
      const blockedBy = present && blockOf(kind, fields);
      plan.changes.push(blockedBy === undefined ? change : { ...change, blockedBy });
    }
    for (const [identity, { entry, id, isInUse = false }] of installation[kind]) {
      // Production always exists.
      if (!named.has(identity) && !(kind === 'environments' && entry.name === PRODUCTION))
        plan.unmanaged.push({ kind, entry, id, isInUse });
    }
  }
  if (options.prune) {
    const deletions = plan.unmanaged
      .filter((one) => !isKept(one))
      .map(({ kind, entry, id }): Change => ({ action: 'delete', kind, entry, id, fields: [] }));
    plan.changes.push(...deletions);
    plan.unmanaged = plan.unmanaged.filter(isKept);
  }
  return plan;
}

/** Environments have events and runs: they are archived by hand. Without the key in use, neither this apply could go on nor the next begin. */
function isKept({ kind, isInUse }: Unmanaged): boolean {
  return kind === 'environments' || isInUse;
}

function changedFields(kind: Kind, present: Present, after: Entry, { setSecrets }: PlanOptions): FieldChange[] {
  const { entry: before, effective = {} } = present;
  const names = new Set([...Object.keys(after), ...Object.keys(effective)]);
  const changes = [...names].flatMap((field): FieldChange[] => {
    if (field === 'reconciliation') return reconciliationChange(before[field], after[field], setSecrets);
    if (hasSecrets(kind, field)) return [];
    // Fields in the document are compared with the webhook's; fields not in the document must have their defaults.
    const was = field in effective && after[field] !== undefined ? effective[field] : before[field];
    const is = after[field];
    if (SETS.has(field) && was && is && isSameSet(was, is)) return [];
    const isSame = covers(was, is) && (!WHOLE.has(field) || covers(is, was));
    return isSame ? [] : [{ field, before: was ?? null, after: is ?? null }];
  });
  if (kind === 'destinations') {
    const [had, has] = [before.headers, after.headers].map((headers) => Object.keys(headers ?? {}));
    const areOthers = !isSameSet(had ?? [], has ?? []) || (setSecrets && has?.length !== 0);
    return areOthers ? [...changes, { field: 'headers', before: before.headers, after: after.headers }] : changes;
  }
  if (kind === 'alert_channels') {
    return [...changes, ...['url', 'key'].flatMap((field) => secretChange(field, before, after, setSecrets))];
  }
  if (kind !== 'webhooks' || !after.secrets?.length) return changes;
  const isOther = changes.some(({ field }) => field === 'provider');
  if (!setSecrets && !isOther && before.secrets?.length) return changes;
  return [...changes, { field: 'secrets', before: before.secrets ?? null, after: after.secrets }];
}

/** Only whether there is one can be compared. */
function secretChange(field: string, before: Entry, after: Entry, setSecrets: boolean): FieldChange[] {
  const [was = null, is = null] = [before[field], after[field]];
  const isSame = (was === null) === (is === null) && !(setSecrets && is !== null);
  return isSame ? [] : [{ field, before: was, after: is }];
}

/** The key cannot be compared. */
function reconciliationChange(before: Json, after: Json, setSecrets: boolean | undefined): FieldChange[] {
  const [was, is] = [before, after].map((given) => given?.account ?? null);
  const isSame = covers(was, is) && covers(is, was) && !(setSecrets && after);
  return isSame ? [] : [{ field: 'reconciliation', before: before ?? null, after: after ?? null }];
}

function initialFields(entry: Entry): FieldChange[] {
  return Object.entries(entry)
    .filter(([field, value]) => !['name', 'environment'].includes(field) && !isEmpty(value))
    .map(([field, after]) => ({ field, before: null, after }));
}

function blockOf(kind: Kind, fields: readonly FieldChange[]): string | undefined {
  const fixed = fields.find(({ field }) => kind === 'api_keys' || (kind === 'alert_channels' && field === 'kind'));
  if (!fixed) return undefined;
  const [what, short] = kind === 'api_keys' ? ['an API key', 'key'] : ['an alert channel', 'channel'];
  return `the ${fixed.field} of ${what} cannot be changed: delete the ${short}, or choose another name`;
}

/** Whether the service has the wanted value; it may add defaults to objects. */
function covers(has: Json, wanted: Json): boolean {
  if (isEmpty(has) && isEmpty(wanted)) return true;
  if (!isObject(has) || !isObject(wanted)) return JSON.stringify(has) === JSON.stringify(wanted);
  const names = Object.keys(wanted);
  if (names.length === 0) return Object.keys(has).length === 0;
  return names.every((name) => covers(has[name], wanted[name]));
}

function isEmpty(value: Json): boolean {
  return value === undefined || value === null || (isObject(value) && Object.keys(value).length === 0);
}
