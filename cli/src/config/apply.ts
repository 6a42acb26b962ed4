/** Does what a plan says. */
import type { ApiClient, Json } from '../api-client.ts';
import { usageError } from '../exit-codes.ts';
import { at } from '../list-options.ts';
import type { Change } from './plan.ts';
import { hasSecrets, referencesIn, type Variables, withSecrets } from './references.ts';

const PATHS = { webhooks: '/v1/webhooks', event_keys: '/v1/event-keys', api_keys: '/v1/api-keys' } as const;
const MESSAGE = 'tidegate apply';

/** Creates come first, in the order of the kinds: a webhook needs its environment. Deletions are in the reverse order: a channel that
 *  a rule names alone cannot be deleted. API keys come last: they cannot be had back, and a deletion before them may fail. */
export function inOrder(changes: readonly Change[]): Change[] {
  const deletions = changes.filter(({ action }) => action === 'delete').reverse();
  return [
    ...changes.filter(({ action }) => action !== 'delete'),
    ...deletions.filter(({ kind }) => kind !== 'api_keys'),
    ...deletions.filter(({ kind }) => kind === 'api_keys'),
  ];
}

/** Runs before anything is changed. @throws CliError that names the variables that are not set */
export function checkVariables(changes: readonly Change[], variables: Variables): void {
  const needed = changes.flatMap(({ kind, fields }) =>
    fields.flatMap(({ field, after }) => (hasSecrets(kind, field) ? referencesIn(after) : [])),
  );
  const missing = [...new Set(needed.map(({ env }) => env))].filter((name) => !variables[name]);
  if (missing.length === 0) return;
  throw usageError(
    `These variables with secrets of webhooks, destinations and alert channels are not set: ${missing.join(', ')}`,
    'Set them, and apply again',
  );
}

/** @returns what the service answered: of a new key, destination or channel, with its secret */
export async function applyChange(api: ApiClient, change: Change, variables: Variables): Promise<Json> {
  if (change.kind === 'environments') return applyEnvironment(api, change);
  if (change.kind === 'apps') return applyApp(api, change);
  if (change.kind === 'functions') return applyFunction(api, change);
  if (change.kind === 'alert_rules') return applyAlertRule(api, change);
  if (change.kind === 'destinations') return applyNamed(api, change, '/v1/destinations', variables);
  if (change.kind === 'alert_channels') return applyNamed(api, change, '/v1/alert-channels', variables);
  const path = PATHS[change.kind];
  const { action, id = '' } = change;
  if (action === 'delete') return (await api.delete(`${path}/${encodeURIComponent(id)}`)).data;
  if (action === 'create') return (await api.post(path, bodyOf(change, variables))).data;
  return (await api.patch(`${path}/${encodeURIComponent(id)}`, bodyOf(change, variables))).data;
}

/** Its settings alone are in the file: the app itself registers. */
async function applyApp(api: ApiClient, { action, entry, fields }: Change): Promise<void> {
  const { name, environment, allowed_origins } = entry;
  const isDeleted = action === 'delete';
  const isChanged = (wanted: string) => isDeleted || fields.some(({ field }) => field === wanted);
  const own = api.inEnvironment(environment);
  if (isChanged('allowed_origins')) {
    await own.put(at`/v1/allowed-origins/${name}`, { origins: isDeleted ? [] : allowed_origins });
  }
  const chosen = ['versioning', 'activation'].filter((field) =>
    isDeleted ? (entry[field] ?? null) !== null : isChanged(field),
  );
  if (chosen.length > 0) {
    const body = Object.fromEntries(chosen.map((field) => [field, isDeleted ? null : (entry[field] ?? null)]));
    await own.patch(at`/v1/apps/${name}`, body);
  }
}

/** Its settings alone are in the file: its app registers it. */
async function applyFunction(api: ApiClient, { action, entry }: Change): Promise<void> {
  const { name, environment, on_exhausted = null } = entry;
  const body = { on_exhausted: action === 'delete' ? null : on_exhausted };
  await api.inEnvironment(environment).patch(at`/v1/functions/${name}`, body);
}

/** What people changed of it alone is in the file. */
async function applyAlertRule(api: ApiClient, { action, entry }: Change): Promise<void> {
  const { name, environment, ...settings } = entry;
  const isDeleted = action === 'delete';
  const body = Object.fromEntries(Object.entries(settings).map(([field, value]) => [field, isDeleted ? null : value]));
  await api.inEnvironment(environment).patch(at`/v1/alert-rules/${name}`, body);
}

/** Has its name as its ID, in its environment. */
async function applyNamed(api: ApiClient, change: Change, list: string, variables: Variables): Promise<Json> {
  const { action, entry } = change;
  const { name, environment } = entry;
  const own = api.inEnvironment(environment);
  const path = list + at`/${name}`;
  if (action === 'delete') return (await own.delete(path)).data;
  const body = wanted(change, variables);
  if (body.webhook) body.webhook = await webhookNamed(api, body.webhook, environment);
  const { data } = await (action === 'create' ? own.post(list, { name, ...body }) : own.patch(path, body));
  return { ...data, environment };
}

/** The changed fields, with their secrets. */
function wanted({ kind, fields }: Change, variables: Variables): Record<string, Json> {
  const values = fields.map(({ field, after }) => {
    return [field, hasSecrets(kind, field) ? withSecrets(after, variables) : after] as const;
  });
  return Object.fromEntries(values);
}

/** Its ID; the text itself if no webhook has this name, which the service then rejects. */
async function webhookNamed(api: ApiClient, name: string, environment: string): Promise<string> {
  const all: Json[] = await api.all('/v1/webhooks');
  return all.find((one) => one.name === name && one.environment === environment)?.id ?? name;
}

async function applyEnvironment(api: ApiClient, { action, entry, fields }: Change): Promise<Json> {
  const { name, event_max_bytes, retention_days, archived } = entry;
  if (action === 'create') await api.post('/v1/environments', { name, kind: 'named' });
  const isChanged = (name: string) =>
    fields.some(({ field, after }) => field === name && (action === 'update' || after));
  const limits = {
    ...(isChanged('event_max_bytes') && { event_max_bytes }),
    ...(isChanged('retention_days') && { retention_days }),
  };
  if (Object.keys(limits).length > 0) await api.patch(at`/v1/environments/${name}/limits`, limits);
  if (isChanged('archived')) await api.post(at`/v1/environments/${name}/${archived ? 'archive' : 'unarchive'}`);
}

function bodyOf(change: Change, variables: Variables): Record<string, Json> {
  const { action, kind, entry, version } = change;
  const changed = wanted(change, variables);
  const { name, environment } = entry;
  const identity = action === 'create' ? { name, environment } : {};
  if (kind !== 'webhooks') return { ...identity, ...changed };
  const handling = { ...changed };
  // null is no value of these; the default is.
  const { provider = null } = entry;
  for (const field of ['verify', 'deduplicate']) if (handling[field] === null) handling[field] = provider !== null;
  if (handling.settings === null) handling.settings = {};
  if (handling.transform === null) delete handling.transform;
  const condition = action === 'update' ? { if_version: version } : {};
  return { ...identity, ...handling, ...condition, message: MESSAGE };
}
