/** Simulates the example shop for the pictures of the dashboard: customers order and pay, the warehouse reports, someone pushes code, and
 *  sometimes something fails. */
import { setTimeout as wait } from 'node:timers/promises';
import { Problem } from './problem.ts';

const CUSTOMERS = ['Ada', 'Grace', 'Edsger', 'Barbara', 'Donald', 'Radia', 'Tim', 'Hedy'];
const WARES = ['tea-cup', 'kettle', 'lamp', 'notebook', 'pencil'];
/** The shop's longest function, and the one that fails permanently. */
export const FULFIL = 'example-shop-fulfil-order';
const INTERVAL_MS = 1_500;
const PATIENCE_MS = 30_000;
const PUSHES = `function transform(evt, headers) {
  const kind = headers["X-Github-Event"];
  if (kind === "ping") return null;
  return {
    id: headers["X-Github-Delivery"],
    name: "github/" + kind,
    data: evt,
  };
}
`;
const PREVIEWS = `function transform(evt) {
  return { name: "preview/deployed", data: evt };
}
`;

export interface ShopOptions {
  url: string;
  apiKey: string;
  eventKey: string;
}

export interface Shop {
  url: string;
  webhookId: string;
  /** Simulates customers for this long. */
  work(lastsMs: number): Promise<void>;
  /** @returns `data` of the API's response */
  // biome-ignore lint/suspicious/noExplicitAny: the script knows what it asked for
  ask(method: 'GET' | 'POST' | 'PUT', path: string, body?: object): Promise<any>;
}

/** Resolves when the shop's app is registered and all data is set up. */
export async function openShop({ url, apiKey, eventKey }: ShopOptions): Promise<Shop> {
  const ask: Shop['ask'] = async (method, path, body) => {
    const answer = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Problem(`${method} ${path}: ${answer.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text).data;
  };
  const post = async (to: string, body: object, headers: Record<string, string> = {}) => {
    await fetch(to, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  };
  const send = (...events: object[]) => post(`${url}/e/${eventKey}`, events);
  const { github, previews } = await furnish(ask);
  await until(ask, '/v1/functions');

  let orders = 1_041;
  async function oneCustomer(): Promise<void> {
    orders += 1;
    const [customer, sku] = [oneOf(CUSTOMERS), oneOf(WARES)];
    const orderId = `A${orders}`;
    const quantity = 1 + (orders % 3);
    // The shop's code does not handle an order without lines.
    const lines = orders % 9 === 0 ? undefined : [{ sku, quantity }];
    await send({ name: 'order/placed', id: `placed-${orderId}`, data: { orderId, customer, lines } });
    await wait(INTERVAL_MS / 3);
    const paid = { name: 'order/paid', id: `paid-${orderId}`, data: { orderId, customer, total: 12.5 * quantity * 4 } };
    await send(paid);
    if (orders % 5 === 0) await send(paid);
    if (orders % 4 === 0) await send({ name: 'stock/changed', data: { sku, quantity: 100 - quantity } });
    if (orders % 6 === 0) await push(orders);
    if (orders % 12 === 0) await post(github.url, { zen: 'Design for failure.' }, { 'x-github-event': 'ping' });
    if (orders % 18 === 0) await post(github.url, {}, { 'x-github-event': 'x'.repeat(300) });
    if (orders % 24 === 0) await post(previews.url, { branch: 'feature/checkout', commit: `${orders}c0ffee` });
  }

  async function push(n: number): Promise<void> {
    const commits = [{ id: `${n}c0ffee${n}`, message: 'Receipts are sent once' }];
    const body = { ref: 'refs/heads/main', repository: { full_name: 'ada/shop' }, pusher: { name: 'ada' }, commits };
    await post(github.url, body, { 'x-github-event': 'push', 'x-github-delivery': `delivery-${n}` });
  }

  async function work(lastsMs: number): Promise<void> {
    const end = Date.now() + lastsMs;
    // Some of everything, even in a short simulation.
    for (let n = 0; n < 24; n += 1) await oneCustomer();
    while (Date.now() < end) {
      await oneCustomer();
      await wait(INTERVAL_MS * (0.5 + Math.abs(Math.sin(orders / 20))));
    }
    // The workbench opens on the last one.
    await push(orders + 1);
    for (const status of ['Completed', 'Failed']) await until(ask, `/v1/runs?status=${status}&function_id=${FULFIL}`);
  }

  return { url, webhookId: github.id, work, ask };
}

/** Environments, keys, members and webhooks of the account. */
async function furnish(ask: Shop['ask']): Promise<{ github: Webhook; previews: Webhook }> {
  await ask('POST', '/v1/environments', { name: 'staging' });
  await ask('POST', '/v1/environments', { name: 'feature/checkout', kind: 'branch' });
  await ask('POST', '/v1/event-keys', { name: 'Shop' });
  const names = { mode: 'allow', items: ['app/*'] };
  await ask('POST', '/v1/event-keys', { name: 'Mobile app', event_names: names, max_bytes: 65_536 });
  await ask('POST', '/v1/event-keys', { name: 'Preview deploys', environment: 'branches' });
  await ask('POST', '/v1/api-keys', { name: 'Deploys', access: 'write' });
  await ask('POST', '/v1/api-keys', { name: 'Status board', access: 'read', environment: 'production' });
  await ask('POST', '/v1/users', { email: 'grace@shop.example', role: 'member' });
  await ask('POST', '/v1/users', { email: 'edsger@shop.example', role: 'read-only' });
  const github = await ask('POST', '/v1/webhooks', { name: 'GitHub', transform: PUSHES });
  const previews = await ask('POST', '/v1/webhooks', {
    name: 'Previews',
    environment: 'branches',
    transform: PREVIEWS,
  });
  return { github, previews };
}

interface Webhook {
  id: string;
  url: string;
}

/** Waits until the list is not empty. */
async function until(ask: Shop['ask'], path: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while ((await ask('GET', path)).length === 0) {
    if (Date.now() > deadline) throw new Problem(`${path} stayed empty for ${PATIENCE_MS / 1_000} s`);
    await wait(200);
  }
}

function oneOf<T>(items: readonly T[]): T {
  return items[Math.floor(Math.random() * items.length)] as T;
}
