/** Fakes of the lists in which providers say what they sent, as their documentation describes them: Stripe's events, GitHub's deliveries and Paddle's
 *  notifications, on one server. A test adds what was sent, and may respond in the fake's place. */
import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const PAGE = 100;

export interface FakeItem {
  /** The ID by which its request is deduplicated. */
  id: string;
  /** Unix milliseconds. */
  at: number;
  type: string;
  /** What the provider posts. */
  body: string;
}

/** @returns true: it has responded */
type Responder = (request: IncomingMessage, response: ServerResponse, url: URL) => boolean;

export interface FakeSentLists {
  url: string;
  /** Newest last. */
  sent: FakeItem[];
  /** Types that the Stripe endpoint gets. */
  types: string[];
  /** Paths with their query, as they were asked for. */
  asked: string[];
  /** IDs that GitHub was asked to deliver again. */
  redelivered: string[];
  /** Responds before the fake does; undefined: the fake is honest. */
  respond: Responder | undefined;
  reset(): void;
  close(): Promise<void>;
}

export const FAKE_KEY = 'rk_test_51FakeReadOnly';
export const FAKE_PADDLE_KEY = 'pdl_live_apikey_01fake';
const KEYS = [FAKE_KEY, FAKE_PADDLE_KEY];

export async function startFakeSentLists(): Promise<FakeSentLists> {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://fake');
    fake.asked.push(request.url ?? '');
    if (fake.respond?.(request, response, url)) return;
    const [scheme, key] = (request.headers.authorization ?? '').split(' ');
    if (scheme?.toLowerCase() !== 'bearer' || !KEYS.includes(key ?? ''))
      return void json(response, 401, { error: 'bad key' });
    const [status, body, headers] = route(request, url);
    json(response, status, body, headers);
  });
  const fake: FakeSentLists = {
    url: '',
    sent: [],
    types: ['*'],
    asked: [],
    redelivered: [],
    respond: undefined,
    reset() {
      Object.assign(fake, { sent: [], types: ['*'], asked: [], redelivered: [], respond: undefined });
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  fake.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return fake;

  type Reply = [status: number, body: unknown, headers?: Record<string, string>];

  function route(request: IncomingMessage, url: URL): Reply {
    const newestFirst = fake.sent.toReversed();
    const { pathname, searchParams } = url;
    const [, stripe] = /^\/v1\/events(?:\/(\w+))?$/.exec(pathname) ?? [];
    if (stripe)
      return found(
        newestFirst.find(({ id }) => id === stripe),
        (item) => JSON.parse(item.body),
      );
    if (pathname === '/v1/events') return stripePage(newestFirst, searchParams);
    if (/^\/v1\/webhook_endpoints\/we_\w+$/.test(pathname)) {
      return [200, { object: 'webhook_endpoint', enabled_events: fake.types }];
    }
    const [, deliveries, attempts] =
      /^\/repos\/octo\/harbour\/hooks\/7\/deliveries(?:\/(\d+)(\/attempts)?)?$/.exec(pathname) ?? [];
    if (deliveries) {
      const item = fake.sent[Number(deliveries) - 1];
      if (!attempts)
        return found(item, (one) => ({ ...delivery(one, Number(deliveries)), request: sentByGithub(one) }));
      if (request.method !== 'POST' || !item) return [404, {}];
      fake.redelivered.push(item.id);
      return [202, {}];
    }
    if (pathname === '/repos/octo/harbour/hooks/7/deliveries') return githubPage(newestFirst, url);
    const [, notification] = /^\/notifications(?:\/(ntf_\w+))?$/.exec(pathname) ?? [];
    if (notification)
      return found(
        newestFirst.find((item) => ntf(item) === notification),
        (item) => ({ data: paddle(item) }),
      );
    if (pathname === '/notifications') return paddlePage(newestFirst, searchParams);
    return [404, {}];
  }

  function found(item: FakeItem | undefined, shown: (item: FakeItem) => unknown): Reply {
    return item ? [200, shown(item)] : [404, {}];
  }

  function stripePage(items: readonly FakeItem[], query: URLSearchParams): Reply {
    const [from, to] = ['gte', 'lte'].map((name) => Number(query.get(`created[${name}]`)) * 1_000) as [number, number];
    const within = items.filter(({ at }) => Math.floor(at / 1_000) * 1_000 >= from && at <= to);
    const { page, hasMore } = after(
      within,
      query.get('starting_after'),
      ({ id }) => id,
      Number(query.get('limit') ?? 10),
    );
    return [
      200,
      { object: 'list', url: '/v1/events', has_more: hasMore, data: page.map(({ body }) => JSON.parse(body)) },
    ];
  }

  /** Numbered from 1, in the order of sending. */
  function githubPage(items: readonly FakeItem[], url: URL): Reply {
    const first = Number(url.searchParams.get('cursor')?.replace('v1_', '') ?? 0);
    const page = items.slice(first, first + PAGE);
    const hasMore = first + PAGE < items.length;
    const next = `<${fake.url}${url.pathname}?per_page=100&cursor=v1_${first + PAGE}>; rel="next"`;
    const shown = page.map((item) => delivery(item, fake.sent.indexOf(item) + 1));
    return [200, shown, hasMore ? { link: next } : {}];
  }

  function paddlePage(items: readonly FakeItem[], query: URLSearchParams): Reply {
    const [from, to] = ['from', 'to'].map((name) => Date.parse(query.get(name) ?? '')) as [number, number];
    const within = items.filter(({ at }) => at >= from && at <= to);
    const { page, hasMore } = after(within, query.get('after'), ntf, Number(query.get('per_page') ?? 50));
    const last = page.at(-1);
    const next = `${fake.url}/notifications?${new URLSearchParams({ ...Object.fromEntries(query), after: last ? ntf(last) : '' })}`;
    return [
      200,
      {
        data: page.map(paddle),
        meta: { pagination: { has_more: hasMore, per_page: PAGE, next, estimated_total: within.length } },
      },
    ];
  }
}

function after(items: readonly FakeItem[], last: string | null, idOf: (item: FakeItem) => string, limit: number) {
  const start = last === null ? 0 : items.findIndex((item) => idOf(item) === last) + 1;
  return { page: items.slice(start, start + limit), hasMore: start + limit < items.length };
}

function json(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

export function stripeItem(number: number, at: number, type = 'invoice.paid'): FakeItem {
  const id = `evt_1Fake${String(number).padStart(6, '0')}`;
  const created = Math.floor(at / 1_000);
  const body = JSON.stringify({ id, object: 'event', created, type, data: { object: { id: `in_${number}`, number } } });
  return { id, at, type, body };
}

export function githubItem(number: number, at: number): FakeItem {
  const id = `72d3162e-cc78-11e3-81ab-${String(number).padStart(12, '0')}`;
  return { id, at, type: 'push', body: JSON.stringify({ ref: `refs/heads/${number}` }) };
}

export function paddleItem(number: number, at: number): FakeItem {
  const id = `evt_01kexg${String(number).padStart(6, '0')}`;
  const fields = { event_id: id, event_type: 'address.created', occurred_at: new Date(at).toISOString() };
  return {
    id,
    at,
    type: fields.event_type,
    body: JSON.stringify({ ...fields, data: { id: `add_${number}`, customer_id: `ctm_${number}` } }),
  };
}

function delivery({ id: guid, at, type: event }: FakeItem, id: number) {
  return {
    id,
    guid,
    delivered_at: new Date(at).toISOString(),
    redelivery: false,
    status: 'OK',
    status_code: 200,
    event,
  };
}

function sentByGithub({ id, type, body }: FakeItem) {
  const headers = { 'X-GitHub-Delivery': id, 'X-GitHub-Event': type, 'content-type': 'application/json' };
  return { headers, payload: JSON.parse(body) as unknown };
}

function ntf({ id }: FakeItem): string {
  return id.replace('evt_', 'ntf_');
}

function paddle(item: FakeItem) {
  return {
    id: ntf(item),
    type: item.type,
    status: 'delivered',
    payload: JSON.parse(item.body),
    occurred_at: new Date(item.at).toISOString(),
  };
}

/** Headers with which a provider posts an item. */
export function headersOf(
  provider: 'stripe' | 'github' | 'paddle',
  secret: string,
  { id, type, body }: FakeItem,
): Record<string, string> {
  const seconds = Math.floor(Date.now() / 1_000);
  const hmac = (text: string) => createHmac('sha256', secret).update(text).digest('hex');
  const json = { 'content-type': 'application/json' };
  if (provider === 'stripe') return { ...json, 'stripe-signature': `t=${seconds},v1=${hmac(`${seconds}.${body}`)}` };
  if (provider === 'paddle') return { ...json, 'paddle-signature': `ts=${seconds};h1=${hmac(`${seconds}:${body}`)}` };
  return { ...json, 'x-github-event': type, 'x-github-delivery': id, 'x-hub-signature-256': `sha256=${hmac(body)}` };
}
