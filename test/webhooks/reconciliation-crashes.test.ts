import { expect } from 'chai';
import fc from 'fast-check';
import { WebhookOrders } from '../../src/api/receive/order-webhook.ts';
import { type ReconcileDeps, reconcileWebhook } from '../../src/api/reconciliation/reconcile-webhook.ts';
import type { Event } from '../../src/model/events/event.ts';
import { newId } from '../../src/model/ids.ts';
import type { Webhook } from '../../src/store/webhooks/webhook.ts';
import { type FakeItem, stripeItem } from '../support/fake-sent-lists.ts';
import { type OwnStore, openStore } from '../support/own-store.ts';

const HOUR_MS = 3_600_000;
const PAGE = 4;
const QUIET = { warn() {}, error() {}, info() {}, debug() {} };

/** A process of the service that dies at its nth call of another part, before or after that part has done it. */
class Mortal {
  #left: number;
  readonly #after: boolean;
  isDead = false;

  constructor(left: number, after: boolean) {
    this.#left = left;
    this.#after = after;
  }

  /** The part, whose calls may be the last. */
  calls<T extends object>(part: T): T {
    return new Proxy(part, {
      get: (target, name) => {
        const value = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return async (...args: unknown[]) => {
          if (this.isDead || (--this.#left <= 0 && !this.#after)) this.#die();
          const done = await (value as (...args: unknown[]) => unknown).apply(target, args);
          if (this.#left <= 0) this.#die();
          return done;
        };
      },
    });
  }

  #die(): never {
    this.isDead = true;
    throw new Error('the process has died');
  }
}

describe('Reconciliation with crashes', () => {
  let store: OwnStore;
  before(async () => {
    store = await openStore(undefined, { PARTITIONS: '4' });
  });
  after(() => store.close());

  /** What the acceptor of the service does: an ID counts once. */
  function acceptor() {
    const accepted = new Map<string, string>();
    return {
      accepted,
      acceptWithId: async ({ id = '' }: Event, internalId: string) => {
        if (!accepted.has(id)) accepted.set(id, internalId);
        return accepted.get(id) as string;
      },
    };
  }

  /** Stripe's list, page by page. */
  function provider(sent: readonly FakeItem[]) {
    const newestFirst = sent.toReversed();
    return {
      send: async (_: string, url: string) => {
        const { pathname, searchParams } = new URL(url);
        const headers = {};
        if (pathname.startsWith('/v1/webhook_endpoints/'))
          return { status: 200, headers, text: '{"enabled_events":["*"]}' };
        const one = newestFirst.find(({ id }) => pathname === `/v1/events/${id}`);
        if (one) return { status: 200, headers, text: one.body };
        const last = searchParams.get('starting_after');
        const start = last === null ? 0 : newestFirst.findIndex(({ id }) => id === last) + 1;
        const data = newestFirst.slice(start, start + PAGE).map(({ body }) => JSON.parse(body));
        return { status: 200, headers, text: JSON.stringify({ data, has_more: start + PAGE < newestFirst.length }) };
      },
    };
  }

  async function createWebhook(): Promise<Webhook> {
    const [id, keyId] = [newId(), newId()];
    const key = { id: keyId, sealed: store.webhooks.seal(id, keyId, 'rk_test_x'), addedAt: 0 };
    const webhook: Webhook = {
      ...{ id, key: id, env: 'production', name: 'Stripe', transform: '', version: 1, provider: 'stripe' },
      reconciliation: { account: { endpoint: 'we_1' }, key, since: Date.now() - HOUR_MS },
      ...{ createdAt: 0, updatedAt: 0 },
    };
    await store.webhooks.create(webhook);
    return webhook;
  }

  const scenario = fc.record({
    /** When each request comes: before the list is read, after a crash, twice, or never. */
    requests: fc.array(fc.constantFrom('before', 'twice', 'late', 'never'), { minLength: 1, maxLength: 14 }),
    crashes: fc.array(fc.record({ at: fc.integer({ min: 1, max: 40 }), after: fc.boolean() }), { maxLength: 6 }),
  });

  it('each request that was sent is there once, and is counted once, wherever processes die', async function () {
    this.timeout(120_000);
    await fc.assert(
      fc.asyncProperty(scenario, async ({ requests, crashes }) => {
        const stored = await createWebhook();
        const webhook = store.webhooks.inUse(stored);
        const start = Date.now() - HOUR_MS / 2;
        const sent = requests.map((_, n) => stripeItem(n, start + n * 1_000));
        const service = acceptor();
        const come = async (item: FakeItem) => {
          await service.acceptWithId({ id: item.id, name: 'x', data: {} }, newId());
          await store.webhookReconciliations.recordReceived(stored.id, item.id, Date.now());
        };
        const those = (...kinds: string[]) => sent.filter((_, n) => kinds.includes(requests[n] as string));
        for (const item of [...those('before', 'twice'), ...those('twice')]) await come(item);

        const deps = (process: Mortal) =>
          ({
            ...{
              ids: store.ids,
              webhooks: store.webhooks,
              log: QUIET,
              eventMaxFutureMs: HOUR_MS,
              publicUrl: undefined,
            },
            webhookReconciliations: process.calls(store.webhookReconciliations),
            providerClient: process.calls(provider(sent)),
            acceptor: process.calls(service),
            environments: { find: () => ({ name: 'production', kind: 'production' }) },
            transforms: {
              run: async () => ({ returned: { name: 'x', data: {} }, text: '{"name":"x","data":{}}', logs: [] }),
            },
            eventLimits: { of: () => ({ bytes: 1_000_000 }) },
            backpressure: { admit() {} },
            webhookOrders: new WebhookOrders(),
            largeBodies: { canKeep: false },
            functionTables: { recent: async () => ({ needsRequestsOf: () => false }) },
            requestLogWriter: { add() {} },
          }) as unknown as ReconcileDeps;
        const { signal } = new AbortController();
        for (const { at, after } of crashes) {
          await reconcileWebhook(webhook, deps(new Mortal(at, after)), signal).catch(() => undefined);
        }
        for (const item of those('late')) await come(item);
        const immortal = deps(new Mortal(Number.POSITIVE_INFINITY, false));
        // A pass that died goes on first; the second one finds what came late.
        for (let pass = 0; pass < 2; pass++) await reconcileWebhook(webhook, immortal, signal);

        expect([...service.accepted.keys()].sort()).to.deep.equal(sent.map(({ id }) => id));
        const { checked, problem } = await store.webhookReconciliations.state(stored.id);
        expect(problem).to.equal(undefined);
        const counts = await store.webhookReconciliations.counts(stored.id, {
          from: start - 1_000,
          to: checked?.to ?? 0,
        });
        expect(counts).to.deep.include({ sent: sent.length, missing: 0 });
        expect(counts.recovered).to.be.within(those('never').length, those('never', 'late').length);
        await store.webhookReconciliations.remove(stored.id);
        await store.webhooks.remove(stored);
      }),
      { numRuns: 100 },
    );
  });
});
