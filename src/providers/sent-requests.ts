/** Makes requests to a provider's list of sent requests, and reads the responses: pure functions of the list's
 *  description (sent-list.ts). */
import { createPrivateKey, sign } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isJsonObject, isShallowJson, parseStored } from '../model/values/json.ts';
import { iso } from '../model/values/time.ts';
import type { AccountField, SentList } from './sent-list.ts';

const FORM = 'application/x-www-form-urlencoded';
/** GitHub takes at most 10 minutes. */
const TOKEN_SECONDS = 540;

/** The account whose list is read, and its key. */
export interface SentAccount {
  fields: Readonly<Record<string, string>>;
  key: string;
  /** URL of a fake of the provider, in dev mode. */
  api?: string | undefined;
}

export interface Span {
  /** Unix milliseconds, both inclusive. */
  from: number;
  to: number;
}

/** An item of the list: a request that the provider sent. */
export interface SentItem {
  /** The ID by which its request is deduplicated. */
  id: string;
  /** The ID by which the provider's API has it. */
  ref: string;
  /** Unix milliseconds. */
  at: number;
}

export interface SentPage {
  items: SentItem[];
  /** Cursor of the next page; undefined: it is the last one. */
  next: string | undefined;
  /** Items without a valid ID or time. */
  invalid: number;
  /** When the oldest item was sent, of all types; undefined: none has a time. */
  oldestAt: number | undefined;
}

/** The provider's response does not match its documentation. */
export class SentListError extends Error {
  override name = 'SentListError';
}

/** @returns why the fields name no list of the provider; undefined if they do */
export function accountProblem(list: SentList, fields: Readonly<Record<string, string>>): string | undefined {
  for (const [name, value] of Object.entries(fields)) {
    const field = list.account.find((known) => known.name === name);
    if (!field) return `"${name}" is unknown; expected ${namesOf(list.account)}`;
    if (!fits(field.pattern, value) || value.split('/').some((part) => /^\.+$/.test(part))) {
      return `"${name}": expected ${field.label}: ${field.description}`;
    }
  }
  if (sourceOf(list, fields)) return undefined;
  const choices = list.sources.map((source) => namesOf(needed(list, source).map((name) => ({ name }))));
  return `expected ${choices.join(', or ')}`;
}

function namesOf(fields: readonly Pick<AccountField, 'name'>[]): string {
  return fields.length === 0 ? 'none' : fields.map(({ name }) => `"${name}"`).join(' and ');
}

type Source = SentList['sources'][number];

/** The list that exactly these fields name. */
function sourceOf(list: SentList, fields: Readonly<Record<string, string>>): Source | undefined {
  const given = Object.keys(fields).sort().join();
  return list.sources.find((source) => needed(list, source).sort().join() === given);
}

function needed({ account, subscription, query }: SentList, { auth, list }: Source): string[] {
  const used = [list, subscription?.path ?? '', ...Object.values(query)].join();
  return account
    .map(({ name }) => name)
    .filter((name) => used.includes(`{${name}}`) || (auth === 'github-app' && name === 'app'));
}

/** @param cursor of the page; undefined: the first page */
export function listUrl(list: SentList, account: SentAccount, span: Span, cursor: string | undefined): string {
  const url = urlOf(list, account, (source) => source.list);
  for (const [name, value] of Object.entries(list.query)) url.searchParams.set(name, filled(value, account, span));
  if (cursor !== undefined) url.searchParams.set(list.pages.parameter, cursor);
  return url.href;
}

export function itemUrl(list: SentList, account: SentAccount, ref: string): string {
  return urlOf(list, account, (source) => source.item, { ref }).href;
}

/** @returns undefined if the provider does not send requests again on request */
export function redeliverUrl(list: SentList, account: SentAccount, ref: string): string | undefined {
  const { redeliver } = sourceOf(list, account.fields) ?? {};
  return redeliver === undefined ? undefined : urlOf(list, account, () => redeliver, { ref }).href;
}

/** undefined if the list has what this endpoint gets, and nothing else. */
export function subscriptionUrl(list: SentList, account: SentAccount): string | undefined {
  const { path } = list.subscription ?? {};
  return path === undefined ? undefined : urlOf(list, account, () => path).href;
}

function urlOf(
  list: SentList,
  { fields, key, api }: SentAccount,
  pathOf: (source: Source) => string,
  more: Readonly<Record<string, string>> = {},
): URL {
  const source = sourceOf(list, fields);
  if (!source) throw new SentListError('the fields of the account name no list of the provider');
  const own = list.sandbox && key.startsWith(list.sandbox.keyPrefix) ? list.sandbox.api : list.api;
  const values: Readonly<Record<string, string>> = { ...fields, ...more };
  const path = pathOf(source).replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(values[name] ?? '').replaceAll('%2F', '/'),
  );
  return new URL(path, api ?? own);
}

function filled(text: string, { fields }: SentAccount, { from, to }: Span): string {
  return text.replace(/\{(\w+)(?::(s|iso))?\}/g, (_, name: string, unit: string | undefined) => {
    if (unit === undefined) return fields[name] ?? '';
    const at = name === 'from' ? from : to;
    return unit === 's' ? String(name === 'from' ? Math.floor(at / 1_000) : Math.ceil(at / 1_000)) : iso(at);
  });
}

/** @throws Error if the key of an app is not a private key */
export function sentHeaders(list: SentList, { fields, key }: SentAccount, nowMs: number): Record<string, string> {
  const isApp = sourceOf(list, fields)?.auth === 'github-app';
  const token = isApp ? appToken(key, fields.app ?? '', nowMs) : key;
  return { accept: 'application/json', ...list.headers, authorization: `Bearer ${token}` };
}

/** https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app */
function appToken(pem: string, app: string, nowMs: number): string {
  const issuedAt = Math.floor(nowMs / 1_000) - 60;
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${part({ alg: 'RS256', typ: 'JWT' })}.${part({ iat: issuedAt, exp: issuedAt + TOKEN_SECONDS, iss: app })}`;
  return `${text}.${sign('sha256', Buffer.from(text), createPrivateKey(pem)).toString('base64url')}`;
}

/** @param text the body of the response
 *  @param types of the items that the endpoint gets; undefined: all
 *  @throws SentListError */
export function pageOf(
  list: SentList,
  text: string,
  headers: IncomingHttpHeaders,
  types: ReadonlySet<string> | undefined,
): SentPage {
  const document = jsonOf(text);
  const found = valueAt(document, list.items);
  if (!Array.isArray(found)) throw new SentListError('its list is no list');
  const items: SentItem[] = [];
  let invalid = 0;
  let oldestAt: number | undefined;
  for (const entry of found) {
    const item = itemOf(list, entry);
    if (!item) {
      invalid++;
      continue;
    }
    if (oldestAt === undefined || item.at < oldestAt) oldestAt = item.at;
    const type = list.subscription && textAt(entry, list.subscription.type);
    if (types === undefined || (type !== undefined && types.has(type))) items.push(item);
  }
  return { items, next: nextOf(list, document, found.at(-1), headers), invalid, oldestAt };
}

function itemOf(list: SentList, given: unknown): SentItem | undefined {
  const [id, ref, time] = [list.id, list.ref, list.time.at].map((path) => textAt(given, path));
  if (id === undefined || ref === undefined || time === undefined || !fits(list.idPattern, id)) return undefined;
  const at = list.time.unit === 's' ? Number(time) * 1_000 : Date.parse(time);
  return Number.isFinite(at) && /^[\w.-]{1,200}$/.test(ref) ? { id, ref, at } : undefined;
}

function nextOf(
  { pages }: SentList,
  document: unknown,
  last: unknown,
  headers: IncomingHttpHeaders,
): string | undefined {
  if (pages.by === 'last-item') {
    const more = valueAt(document, pages.more);
    const next = more === true ? textAt(last, pages.id) : undefined;
    if (more !== false && next === undefined) throw new SentListError('it does not say where its list goes on');
    return next;
  }
  const links = [headers.link].flat().join().split(',');
  const next = links.find((link) => link.includes('rel="next"'));
  const url = next?.slice(next.indexOf('<') + 1, next.indexOf('>'));
  // Only its parameter is used, so that the key goes to no other URL.
  return (url && URL.parse(url, 'https://provider')?.searchParams.get(pages.parameter)) || undefined;
}

/** Types that the endpoint gets, by the response of the provider; undefined: all. @throws SentListError */
export function typesOf({ subscription }: SentList, text: string): ReadonlySet<string> | undefined {
  const types = subscription && valueAt(jsonOf(text), subscription.types);
  if (!Array.isArray(types)) throw new SentListError('the endpoint has no list of event types');
  return types.includes(subscription?.all) ? undefined : new Set(types.map(String));
}

export interface MadeRequest {
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** The missing request.
 *  @param text the response for one item
 *  @returns undefined if the provider has the item without its body
 *  @throws SentListError */
export function requestOf({ request }: SentList, text: string): MadeRequest | undefined {
  const document = jsonOf(text);
  const value = valueAt(document, request.body);
  if (value === undefined || value === null || value === '') return undefined;
  const headers: IncomingHttpHeaders = {};
  const given = request.headersAt === undefined ? {} : valueAt(document, request.headersAt);
  for (const [name, header] of isJsonObject(given) ? Object.entries(given) : []) {
    if (typeof header === 'string') headers[name.toLowerCase()] = header;
  }
  Object.assign(headers, request.headers);
  // The whole response stays as the provider wrote it.
  const body = request.body === '' ? text : typeof value === 'string' ? value : JSON.stringify(value);
  const isForm = request.formField !== undefined && String(headers['content-type'] ?? '').startsWith(FORM);
  const sent = isForm ? new URLSearchParams({ [request.formField as string]: body }).toString() : body;
  return { headers, body: Buffer.from(sent) };
}

/** @throws SentListError */
function jsonOf(text: string): unknown {
  if (!isShallowJson(text)) throw new SentListError('its response is nested too deeply');
  try {
    return parseStored(text);
  } catch {
    throw new SentListError('its response is not JSON');
  }
}

function valueAt(value: unknown, path: string): unknown {
  if (path === '') return value;
  return path
    .split('.')
    .reduce<unknown>((at, name) => (isJsonObject(at) && Object.hasOwn(at, name) ? at[name] : undefined), value);
}

/** A number may be larger than JavaScript's. */
function textAt(value: unknown, path: string): string | undefined {
  const found = valueAt(value, path);
  if (typeof found === 'string') return found;
  const isRaw = typeof found === 'object' && found !== null && 'rawJSON' in found;
  return typeof found === 'number' || isRaw ? JSON.stringify(found) : undefined;
}

function fits(pattern: string, text: string): boolean {
  return new RegExp(`^(?:${pattern})$`).test(text);
}
