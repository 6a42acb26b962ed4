/** The file that `export` writes and `apply` reads (docs/cli.md#configuration-in-git): its fields and their defaults. */
import type { Json } from '../api-client.ts';
import { usageError } from '../exit-codes.ts';
import { checkReferences } from './references.ts';

export const KINDS = [
  'environments',
  'apps',
  'functions',
  'webhooks',
  'destinations',
  'alert_channels',
  'alert_rules',
  'event_keys',
  'api_keys',
] as const;
export type Kind = (typeof KINDS)[number];

export const NAME_OF_KIND: Record<Kind, string> = {
  environments: 'environment',
  apps: 'app',
  functions: 'function',
  webhooks: 'webhook',
  destinations: 'destination',
  alert_channels: 'alert channel',
  alert_rules: 'alert rule',
  event_keys: 'event key',
  api_keys: 'API key',
};

/** An object with its fields; absent fields have their defaults. */
export type Entry = Record<string, Json>;

/** A section that the file does not have is left alone. */
export type Document = Partial<Record<Kind, Entry[]>>;

export const VERSION = 1;

/** Fields and their defaults, in the order in which `export` writes them. undefined: there is no default, and an absent field stays unchanged. */
export const FIELDS: Record<Kind, Record<string, Json>> = {
  environments: { name: undefined, event_max_bytes: null, retention_days: null, archived: false },
  apps: { name: undefined, environment: 'production', allowed_origins: [], versioning: null, activation: null },
  functions: { name: undefined, environment: 'production', on_exhausted: null },
  webhooks: {
    name: undefined,
    environment: 'production',
    provider: null,
    verify: undefined,
    verification: null,
    secrets: undefined,
    settings: {},
    filter: null,
    methods: undefined,
    deduplicate: undefined,
    max_body_bytes: null,
    large_bodies: null,
    reconciliation: null,
    order: null,
    event_names: null,
    ip_addresses: null,
    transform: undefined,
  },
  destinations: {
    name: undefined,
    environment: 'production',
    url: undefined,
    events: null,
    webhook: null,
    filter: null,
    body: 'event',
    headers: {},
    forward_headers: [],
    timeout_seconds: 30,
    retries: 16,
    flow: { concurrency: 10 },
  },
  alert_channels: {
    name: undefined,
    environment: 'production',
    kind: undefined,
    to: undefined,
    url: undefined,
    key: undefined,
    quiet_hours: null,
    messages_per_hour: 20,
  },
  alert_rules: {
    name: undefined,
    environment: 'production',
    on: null,
    threshold: null,
    window_seconds: null,
    remind_seconds: null,
    channels: null,
  },
  event_keys: { name: undefined, environment: 'production', max_bytes: null, event_names: null, ip_addresses: null },
  api_keys: { name: undefined, access: undefined, environment: null },
};

/** Names are unique within an environment. */
export function identityOf({ name, environment }: Entry): string {
  return JSON.stringify([name, environment ?? null]);
}

export function describeEntry({ name, environment }: Entry): string {
  return environment ? `${name} (${environment})` : String(name);
}

/** The document with defaults. @throws CliError that names the location */
export function checkDocument(given: unknown, file: string): Document {
  if (!isObject(given)) throw usageError(`${file}: expected a document with ${KINDS.join(', ')}`);
  const { version = VERSION, ...sections } = given;
  if (version !== VERSION)
    throw usageError(`${file}: version ${JSON.stringify(version)} is unknown; expected ${VERSION}`);
  for (const name of Object.keys(sections)) {
    if (!(KINDS as readonly string[]).includes(name)) {
      throw usageError(`${file}: ${name} is unknown; expected some of version, ${KINDS.join(', ')}`);
    }
  }
  const document: Document = {};
  for (const kind of KINDS) {
    const entries = sections[kind];
    if (entries === undefined) continue;
    if (entries !== null && !Array.isArray(entries)) throw usageError(`${file}: ${kind}: expected a list`);
    document[kind] = (entries ?? []).map((entry: unknown, i: number) =>
      checkEntry(kind, entry, `${file}: ${kind}[${i}]`),
    );
    rejectTwins(document[kind] as Entry[], `${file}: ${kind}`);
  }
  return document;
}

function checkEntry(kind: Kind, entry: unknown, where: string): Entry {
  if (!isObject(entry)) throw usageError(`${where}: expected fields such as name`);
  if (typeof entry.name !== 'string' || entry.name.trim() === '') throw usageError(`${where}: name is missing`);
  const known = FIELDS[kind];
  for (const field of Object.keys(entry)) {
    if (field in known) continue;
    throw usageError(
      `${where} (${entry.name}): ${field} is unknown; expected some of ${Object.keys(known).join(', ')}`,
    );
  }
  if (kind === 'api_keys' && !['read', 'write', 'admin'].includes(entry.access)) {
    throw usageError(`${where} (${entry.name}): access must be read, write or admin`);
  }
  checkReferences(kind, entry, where);
  if (kind === 'apps') {
    const origins = { allowed_origins: checkOrigins(entry, where) };
    const chosen = {
      versioning: checkChoice(entry, 'versioning', ['latest', 'pinned'], where),
      activation: checkChoice(entry, 'activation', ['automatic', 'manual'], where),
    };
    return { environment: 'production', ...entry, ...origins, ...chosen };
  }
  if (kind === 'functions') {
    const on_exhausted = checkChoice(entry, 'on_exhausted', ['fail', 'pause'], where);
    return { environment: 'production', ...entry, on_exhausted };
  }
  const defaults = Object.entries(known).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(defaults), ...entry };
}

/** Written as the service writes them, so that equal configurations show no difference. */
function checkOrigins({ name, allowed_origins: origins, versioning, activation }: Entry, where: string): string[] {
  if (origins === undefined && (versioning || activation)) return [];
  if (!Array.isArray(origins) || origins.length === 0 || !origins.every((one) => typeof one === 'string')) {
    throw usageError(
      `${where} (${name}): allowed_origins: expected a list such as ['https://shop-*-acme.example.app']`,
    );
  }
  const written = origins.map((origin: string) => origin.trim().toLowerCase().replace(/\/$/, ''));
  return [...new Set(written.map((origin) => origin.replace(/^(http:.*):80$|^(https:.*):443$/, '$1$2')))];
}

function checkChoice(entry: Entry, field: string, choices: readonly string[], where: string): string | null {
  const { [field]: given = null } = entry;
  if (given === null || choices.includes(given)) return given;
  throw usageError(`${where} (${entry.name}): ${field} must be ${choices.join(' or ')}`);
}

function rejectTwins(entries: readonly Entry[], where: string): void {
  const seen = new Set<string>();
  for (const entry of entries) {
    if (seen.has(identityOf(entry))) throw usageError(`${where}: two have the name ${describeEntry(entry)}`);
    seen.add(identityOf(entry));
  }
}

export function isObject(value: unknown): value is Record<string, Json> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
