/** Connections of Hookdeck, as its API lists them (GET /connections), as webhooks and destinations of the configuration in git. */
import type { Json } from '../api-client.ts';
import { type Document, type Entry, isObject } from '../config/document.ts';
import { slugOf } from '../config/files.ts';
import { usageError } from '../exit-codes.ts';
import { expressionOf, UnknownFilter } from './filter.ts';

/** What is not taken over as it was. `leftOut`: the connection is not in the document. */
export interface Difference {
  connection: string;
  leftOut: boolean;
  what: string;
}

export interface Imported {
  document: Document;
  differences: Difference[];
}

const RETRIES_MAX = 20;
const PERIODS: Record<string, string> = { second: '1s', minute: '1m', hour: '1h' };

/** @param text JSON of GET /connections: its response, or the list of its models
 *  @param providers IDs of providers that the service knows */
export function importConnections(text: string, providers: ReadonlySet<string>, environment: string): Imported {
  const differences: Difference[] = [];
  const webhooks = new Map<string, Entry>();
  const headersOf = new Map<string, Set<string>>();
  const destinations = new Map<string, Entry>();
  for (const connection of connectionsIn(text)) {
    const { source, destination } = connection;
    const name: string = connection.full_name ?? `${source.name} -> ${destination.name}`;
    const tell = (what: string, leftOut = false) => differences.push({ connection: name, leftOut, what });
    const webhook = webhooks.get(source.name) ?? webhookOf(source, providers, environment, tell);
    webhooks.set(source.name, webhook);
    const headers = headersOf.get(source.name) ?? new Set();
    headersOf.set(source.name, headers);
    const entry = destinationOf(connection, headers, environment, tell);
    if (!entry) continue;
    entry.name = unusedName(entry.name, destinations);
    destinations.set(entry.name, entry);
  }
  for (const [source, webhook] of webhooks) {
    webhook.transform = transformOf(source, [...(headersOf.get(source) ?? [])]);
  }
  return { document: { webhooks: [...webhooks.values()], destinations: [...destinations.values()] }, differences };
}

function connectionsIn(text: string): Json[] {
  let given: Json;
  try {
    given = JSON.parse(text);
  } catch (error) {
    throw usageError(`The file is not JSON: ${(error as Error).message}`);
  }
  const models = Array.isArray(given) ? given : given?.models;
  const isConnection = (one: Json) => isObject(one) && isObject(one.source) && isObject(one.destination);
  if (Array.isArray(models) && models.every(isConnection)) return models;
  throw usageError(
    'Expected connections as the API of Hookdeck lists them',
    'GET /connections answers {"models": […]}',
  );
}

type Tell = (what: string, leftOut?: boolean) => void;

function webhookOf(source: Json, providers: ReadonlySet<string>, environment: string, tell: Tell): Entry {
  const provider = slugOf(source.type ?? '');
  const entry = { name: source.name, environment, transform: '' };
  if (providers.has(provider)) {
    return {
      ...entry,
      provider,
      secrets: [{ env: `${slugOf(source.name).replaceAll('-', '_').toUpperCase()}_WEBHOOK_SECRET` }],
    };
  }
  if (!['webhook', 'http', 'unnamed'].includes(provider))
    tell(`the source type ${source.type}: its requests are not verified`);
  else if (isObject(source.config?.auth) || source.config?.auth_type)
    tell('the authentication of the source: choose a generic provider for the webhook');
  return entry;
}

/** @param headers gets the names of headers that filters read
 *  @returns undefined: it is left out */
function destinationOf(connection: Json, headers: Set<string>, environment: string, tell: Tell): Entry | undefined {
  const { source, destination, rules } = connection;
  const config: Json = destination.config ?? {};
  const url = config.url ?? destination.url;
  if (destination.type && destination.type !== 'HTTP')
    return void tell(`the destination type ${destination.type}`, true);
  if (typeof url !== 'string') return void tell('a destination without a URL', true);
  if (connection.disabled_at || connection.paused_at) return void tell('it is paused or disabled', true);
  const filters: string[] = [];
  let retries = 0;
  for (const rule of (rules ?? []) as Json[]) {
    if (rule.type === 'retry') {
      retries = Math.min(rule.count ?? RETRIES_MAX, RETRIES_MAX);
      tell(`the times of its retries: ${retries} retries, with delays from 15 s to 2 h`);
    } else if (rule.type === 'filter') {
      try {
        filters.push(filterOf(rule, headers));
      } catch (error) {
        if (!(error instanceof UnknownFilter)) throw error;
        return void tell(`its filter: ${error.message}`, true);
      }
    } else if (rule.type === 'transform') {
      return void tell('its transformation: move the code to the transform of the webhook, and send "data"', true);
    } else {
      tell(`its rule ${rule.type}`);
    }
  }
  if (config.http_method && config.http_method !== 'POST') tell(`the method ${config.http_method}: it is POST`);
  return {
    name: slugOf(connection.name ?? `${source.name}-${destination.name}`),
    environment,
    url,
    webhook: source.name,
    body: 'request',
    forward_headers: ['*'],
    retries,
    ...(filters.length > 0 && { filter: filters.join(' && ') }),
    ...limitOf(config),
    ...authenticationOf(destination.name, config, tell),
  };
}

function filterOf({ body, headers, query, path }: Json, read: Set<string>): string {
  if (path !== undefined && path !== null) throw new UnknownFilter('webhooks have one path');
  const parts: string[] = [];
  if (body !== undefined && body !== null) parts.push(expressionOf(body, 'event.data.body'));
  if (query !== undefined && query !== null) parts.push(expressionOf(query, 'event.data.query'));
  if (headers !== undefined && headers !== null) {
    for (const name of namesIn(headers)) read.add(name);
    parts.push(expressionOf(inLowerCase(headers), 'event.data.headers'));
  }
  if (parts.length === 0) throw new UnknownFilter('it is empty');
  return parts.join(' && ');
}

function inLowerCase(filter: Json): Json {
  if (Array.isArray(filter)) return filter.map(inLowerCase);
  if (!isObject(filter)) return filter;
  return Object.fromEntries(
    Object.entries(filter).map(([name, value]) =>
      name.startsWith('$') ? [name, inLowerCase(value)] : [name.toLowerCase(), value],
    ),
  );
}

function namesIn(filter: Json): string[] {
  if (Array.isArray(filter)) return filter.flatMap(namesIn);
  if (!isObject(filter)) throw new UnknownFilter('one for all headers is not known');
  return Object.entries(filter).flatMap(([name, value]) =>
    name.startsWith('$') ? namesIn(value) : name.toLowerCase(),
  );
}

function limitOf({ rate_limit: limit, rate_limit_period: period }: Json): Entry {
  if (typeof limit !== 'number') return {};
  return {
    flow: period === 'concurrent' ? { concurrency: limit } : { throttle: { limit, period: PERIODS[period] ?? '1s' } },
  };
}

function authenticationOf(name: string, { auth_type: type, auth }: Json, tell: Tell): Entry {
  const variable = slugOf(name).replaceAll('-', '_').toUpperCase();
  const header = (named: string) => ({
    headers: { [named]: { env: `${variable}_${slugOf(named).replaceAll('-', '_').toUpperCase()}` } },
  });
  switch (type) {
    case undefined:
    case null:
    case 'HOOKDECK_SIGNATURE':
      tell('its signature: requests are signed by Standard Webhooks');
      return {};
    case 'BEARER_TOKEN':
    case 'BASIC_AUTH':
      return header('authorization');
    case 'API_KEY':
      if (auth?.to !== 'query' && typeof auth?.key === 'string') return header(auth.key.toLowerCase());
  }
  tell(`its authentication ${type}`);
  return {};
}

function transformOf(source: string, headers: readonly string[]): string {
  const canonical = (name: string) => name.replaceAll(/(^|-)(\w)/g, (_, start, first) => start + first.toUpperCase());
  const read = headers.map((name) => `${JSON.stringify(name)}: headers[${JSON.stringify(canonical(name))}]`);
  const fields = ['body: evt', 'query: queryParams', ...(read.length > 0 ? [`headers: { ${read.join(', ')} }`] : [])];
  return `function transform(evt, headers, queryParams) {
  return { name: ${JSON.stringify(`${slugOf(source)}/received`)}, data: { ${fields.join(', ')} } };
}
`;
}

function unusedName(name: string, taken: ReadonlyMap<string, unknown>): string {
  let unused = name;
  for (let i = 2; taken.has(unused); i++) unused = `${name}-${i}`;
  return unused;
}
