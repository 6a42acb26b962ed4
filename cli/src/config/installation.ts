/** The configuration of the service, in the form of the document. */
import type { ApiClient, Json } from '../api-client.ts';
import { CliError, EXIT } from '../exit-codes.ts';
import { at } from '../list-options.ts';
import { type Document, describeEntry, type Entry, identityOf, KINDS, type Kind, NAME_OF_KIND } from './document.ts';
import { slugOf } from './files.ts';

const POST = ['POST'];
/** Hosts of alert channels that need no URL. */
const HOSTS: Record<string, string> = { pagerduty: 'events.pagerduty.com', opsgenie: 'api.opsgenie.com' };

export interface Present {
  entry: Entry;
  /** The ID in the API; for an environment, its name. */
  id: string;
  /** API keys only: the requests of this program are made with it. */
  isInUse?: boolean;
  /** Webhooks only. */
  version?: number;
  /** The behavior of a webhook, whether chosen or by default. */
  effective?: Entry;
}

export type Installation = Record<Kind, Map<string, Present>>;

/** @param kinds to read; API keys need admin access */
export async function readInstallation(api: ApiClient, kinds: readonly Kind[]): Promise<Installation> {
  const lists = await Promise.all(KINDS.map((kind) => (kinds.includes(kind) ? READERS[kind](api) : [])));
  const entries = KINDS.map((kind, i) => [kind, byIdentity(kind, lists[i] as Present[])]);
  return Object.fromEntries(entries) as Installation;
}

export function toDocument(installation: Installation, kinds: readonly Kind[]): Document {
  const sections = kinds.map((kind) => [kind, [...installation[kind].values()].map(({ entry }) => entry)]);
  return Object.fromEntries(sections);
}

function byIdentity(kind: Kind, present: readonly Present[]): Map<string, Present> {
  const found = new Map<string, Present>();
  for (const one of present) {
    const identity = identityOf(one.entry);
    const other = found.get(identity);
    if (other) {
      const message = `The service has two of the ${NAME_OF_KIND[kind]} ${describeEntry(one.entry)}: ${other.id} and ${one.id}`;
      throw new CliError(message, {
        exitCode: EXIT.usage,
        hint: 'They are matched by name: rename or delete one of them',
      });
    }
    found.set(identity, one);
  }
  return found;
}

const READERS: Record<Kind, (api: ApiClient) => Promise<Present[]>> = {
  async environments(api) {
    const all: Json[] = await api.all('/v1/environments');
    // Branches come and go with their apps.
    return all
      .filter(({ kind, deleting_at }) => kind !== 'branch' && deleting_at === null)
      .map(({ name, event_max_bytes, retention_days, archived_at }) => {
        return { id: name, entry: { name, event_max_bytes, retention_days, archived: archived_at !== null } };
      });
  },
  async apps(api) {
    const found = (await namedEnvironments(api)).map(async (environment) => {
      const own = api.inEnvironment(environment);
      const [allowed, apps]: Json[][] = await Promise.all([own.all('/v1/allowed-origins'), own.all('/v1/apps')]);
      const originsOf = new Map(allowed?.map(({ app, origins }) => [app as string, origins]));
      const chosenOf = new Map<string, Json>(
        apps?.flatMap(({ name, versioning, activation }) =>
          versioning || activation ? [[name, { versioning, activation }]] : [],
        ),
      );
      return [...new Set([...originsOf.keys(), ...chosenOf.keys()])].map((name) => {
        const { versioning = null, activation = null } = chosenOf.get(name) ?? {};
        const settings = { allowed_origins: originsOf.get(name) ?? [], versioning, activation };
        return { id: name, entry: { name, environment, ...settings } };
      });
    });
    return (await Promise.all(found)).flat();
  },
  async functions(api) {
    const found = (await namedEnvironments(api)).map(async (environment) => {
      const own = api.inEnvironment(environment);
      // An archived function keeps its settings for when its app registers it again.
      const lists = ['false', 'true'].map((archived): Promise<Json[]> => own.all('/v1/functions', { archived }));
      const settled = (await Promise.all(lists)).flat().filter(({ settings }) => settings.on_exhausted !== null);
      return settled.map(({ id, settings: { on_exhausted } }) => {
        return { id, entry: { name: id, environment, on_exhausted } };
      });
    });
    return (await Promise.all(found)).flat();
  },
  async webhooks(api) {
    const all: Json[] = await api.all('/v1/webhooks');
    const methodsOf = await defaultMethods(api, all);
    return all.map(({ id, version, ...webhook }) => {
      const { verify, deduplicate, methods } = webhook;
      return { id, version, effective: { verify, deduplicate, methods }, entry: webhookEntry(webhook, methodsOf) };
    });
  },
  async destinations(api) {
    const webhooks: Json[] = await api.all('/v1/webhooks');
    const nameOf = new Map(webhooks.map(({ id, name }) => [id, name]));
    const found = (await namedEnvironments(api)).map(async (environment) => {
      const all: Json[] = await api.inEnvironment(environment).all('/v1/destinations');
      return all.map(({ name, url, events, webhook, filter, body, headers, ...rest }) => {
        const { forward_headers, timeout_seconds, retries, flow } = rest;
        const own = { url, events, webhook: webhook && (nameOf.get(webhook) ?? webhook), filter, body };
        const limits = { forward_headers, timeout_seconds, retries, flow };
        const references = headers.map((header: string) => [
          header,
          { env: variableOf([...environmentOf({ environment }), name, header]) },
        ]);
        const entry = { name, environment, ...own, headers: Object.fromEntries(references), ...limits };
        return { id: name, entry };
      });
    });
    return (await Promise.all(found)).flat();
  },
  async alert_channels(api) {
    const found = (await namedEnvironments(api)).map(async (environment) => {
      const all: Json[] = await api.inEnvironment(environment).all('/v1/alert-channels');
      return all.map((channel) => ({ id: channel.name, entry: channelEntry(channel, environment) }));
    });
    return (await Promise.all(found)).flat();
  },
  async alert_rules(api) {
    const found = (await namedEnvironments(api)).map(async (environment) => {
      const all: Json[] = await api.inEnvironment(environment).all('/v1/alert-rules');
      return all.flatMap(({ rule, changed, ...values }) => {
        if (changed.length === 0) return [];
        const fields = ['on', 'threshold', 'window_seconds', 'remind_seconds', 'channels'];
        const settings = fields.map((field) => [field, changed.includes(field) ? values[field] : null]);
        return [{ id: rule, entry: { name: rule, environment, ...Object.fromEntries(settings) } }];
      });
    });
    return (await Promise.all(found)).flat();
  },
  async event_keys(api) {
    const all: Json[] = await api.all('/v1/event-keys');
    return all.map(({ id, name, environment, max_bytes, event_names, ip_addresses }) => {
      return { id, entry: { name, environment, max_bytes, event_names, ip_addresses } };
    });
  },
  async api_keys(api) {
    const all: Json[] = await api.all('/v1/api-keys');
    return all.map(({ id, name, access, environment, hint }) => {
      // The service shows no more of a key. Another one that ends likewise counts as in use too.
      return { id, entry: { name, access, environment }, isInUse: api.settings.apiKey?.endsWith(hint) === true };
    });
  },
};

async function namedEnvironments(api: ApiClient): Promise<string[]> {
  const environments: Json[] = await api.all('/v1/environments');
  return environments
    .filter(({ kind, deleting_at }) => kind !== 'branch' && deleting_at === null)
    .map(({ name }) => name as string);
}

function webhookEntry(webhook: Json, methodsOf: Map<string | null, readonly string[]>): Entry {
  const { name, environment, provider, verify, verification, settings, filter, methods, deduplicate } = webhook;
  const { max_body_bytes, large_bodies, order, reconciliation, event_names, ip_addresses, transform, secrets } =
    webhook;
  const isVerifiedBy = provider !== null;
  return {
    ...{
      name,
      environment,
      provider,
      verification,
      settings,
      filter,
      max_body_bytes,
      large_bodies,
      reconciliation: reconciliation && {
        account: reconciliation.account,
        key: { env: variableOf([...environmentOf(webhook), name, 'reconciliation-key']) },
      },
      order,
      event_names,
      ip_addresses,
      transform,
    },
    ...(verify !== isVerifiedBy && { verify }),
    ...(deduplicate !== isVerifiedBy && { deduplicate }),
    ...(!isSameSet(methods, methodsOf.get(provider) ?? POST) && { methods }),
    ...(secrets.length > 0 && { secrets: referencesTo(webhook) }),
  };
}

/** The service shows neither URLs nor keys of channels. */
function channelEntry({ name, kind, to, address, quiet_hours, messages_per_hour }: Json, environment: string): Entry {
  const words = [...environmentOf({ environment }), name, name.toLowerCase().includes(kind) ? '' : kind];
  const by = (field: string) => ({ [field]: { env: variableOf([...words, field]) } });
  return {
    ...{ name, environment, kind },
    ...(kind === 'email' ? { to } : address !== HOSTS[kind] && by('url')),
    ...(HOSTS[kind] !== undefined && by('key')),
    ...{ quiet_hours, messages_per_hour },
  };
}

/** Key: name of the webhook. The service does not know where its secrets come from. */
function referencesTo({ name, environment, secrets }: Json): { env: string }[] {
  const parts = [...environmentOf({ environment }), name, /webhook/i.test(name) ? '' : 'webhook', 'secret'];
  const variable = variableOf(parts);
  return secrets.map((_: Json, i: number) => ({ env: i === 0 ? variable : `${variable}_${i + 1}` }));
}

/** For names of variables. */
function environmentOf({ environment }: Json): string[] {
  return environment === 'production' ? [] : [environment];
}

function variableOf(parts: readonly string[]): string {
  return slugOf(parts.join('-')).replaceAll('-', '_').toUpperCase();
}

/** The default methods of the providers that webhooks have: the service shows the methods that a webhook accepts, not whether a user chose them. */
async function defaultMethods(
  api: ApiClient,
  webhooks: readonly Json[],
): Promise<Map<string | null, readonly string[]>> {
  const providers = [...new Set(webhooks.map(({ provider }) => provider as string | null))].filter(
    (one) => one !== null,
  );
  const found = providers.map(async (id) => [id, (await api.get(at`/v1/providers/${id}`)).data.methods] as const);
  return new Map<string | null, readonly string[]>(await Promise.all(found));
}

export function isSameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((one) => b.includes(one));
}
