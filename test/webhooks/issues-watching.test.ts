/** Watching webhooks without a service: the clock is set, and Redis is real. */
import { expect } from 'chai';
import { LRUCache } from 'lru-cache';
import { WebhookWatcher } from '../../src/api/receive/webhook-watcher.ts';
import { Telemetry } from '../../src/jobs/telemetry/telemetry.ts';
import { IssueNotifier } from '../../src/jobs/webhooks/issue-notifier.ts';
import { sendPending } from '../../src/jobs/webhooks/pending-notifications.ts';
import { checkSilence } from '../../src/jobs/webhooks/silence-check.ts';
import { createLog } from '../../src/log.ts';
import { NOOP_RECORDER } from '../../src/metrics/recorder.ts';
import { newId } from '../../src/model/ids.ts';
import { issueIdOf } from '../../src/model/webhooks/issue.ts';
import type { Webhook } from '../../src/store/webhooks/webhook.ts';
import { WebhookTraffic } from '../../src/store/webhooks/webhook-traffic.ts';
import { type OwnStore, openStore } from '../support/own-store.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = Date.UTC(2026, 0, 5);
const log = createLog('silent', 'test', undefined);

for (const PARTITIONS of ['1', '4']) {
  describe(`Watching webhooks with PARTITIONS=${PARTITIONS}`, () => {
    let store: OwnStore;
    let sent: { name: string; id: string; data: Record<string, unknown>; env: string }[];
    let isAway: boolean;
    beforeEach(async () => {
      store = await openStore(undefined, { PARTITIONS });
      sent = [];
      isAway = false;
    });
    afterEach(() => store.close());

    function parts() {
      const telemetry = new Telemetry({ ...store, recorder: NOOP_RECORDER });
      const acceptor = {
        async acceptWithId(
          { name, data }: { name: string; data: Record<string, unknown> },
          id: string,
          { env }: { env: string },
        ) {
          if (isAway) throw new Error('Redis is away');
          if (!sent.some((event) => event.id === id)) sent.push({ name, id, data, env });
          return id;
        },
      };
      const issueNotifier = new IssueNotifier({ ...store, acceptor, publicUrl: undefined });
      return { ...store, telemetry, issueNotifier, log };
    }

    async function makeWebhook(fields: Partial<Webhook> = {}): Promise<Webhook> {
      const id = newId(START);
      const common = { key: `key-${id}`, env: '@branches', name: 'watched', transform: '', version: 1 };
      const webhook = { id, ...common, createdAt: START, updatedAt: START, ...fields } as Webhook;
      await store.webhooks.create(webhook);
      return webhook;
    }

    /** A request in each interval of this time. */
    async function receive({ id: webhookId }: Webhook, from: number, to: number, everyMs = HOUR / 4): Promise<number> {
      let last = 0;
      for (let at = from; at < to; at += everyMs) {
        const counts = { requests: 1, accepted: 1, rejected: 0, filtered: 0, unverified: 0 };
        const batch = { webhookId, hour: Math.floor(at / HOUR), ...counts, firstAt: at, lastAt: at, longestGapMs: 0 };
        expect(await store.webhookTraffic.add([batch])).to.deep.equal([]);
        last = at;
      }
      return last;
    }

    function check(webs = 1) {
      const processes = { alive: async () => Array.from({ length: webs }, () => ({ kind: 'web' })) as never };
      const deps = { ...parts(), processes };
      const lookAgain = new LRUCache<string, { lastAt: number; at: number }>({ max: 100 });
      return (nowMs: number) => checkSilence(deps, nowMs, lookAgain);
    }

    /** As a worker does, since the service runs. */
    async function run(
      round: (nowMs: number) => Promise<{ opened: number; resolved: number }>,
      from: number,
      to: number,
    ) {
      let [opened, resolved, openedAt] = [0, 0, 0];
      for (let at = from; at <= to; at += 4 * 60_000) {
        const done = await round(at);
        opened += done.opened;
        resolved += done.resolved;
        if (done.opened > 0) openedAt = at;
      }
      return { opened, resolved, openedAt };
    }

    it('a webhook without further requests opens an issue once, and the next request resolves it', async () => {
      const webhook = await makeWebhook();
      const round = check();
      const last = await receive(webhook, START, START + 8 * DAY);
      await round(START + 8 * DAY - HOUR);
      const { opened, openedAt } = await run(round, START + 8 * DAY - HOUR, START + 8 * DAY + 6 * HOUR);
      expect(opened).to.equal(1);
      // Ten requests would have been expected.
      expect(openedAt - last).to.be.within(2.5 * HOUR, 2.8 * HOUR);
      const [issue] = await store.webhookIssues.ofWebhook(webhook.id);
      expect(issue).to.include({ kind: 'silence', state: 'open', count: 1 });
      expect(issue?.sample.message).to.include(new Date(last).toISOString());
      const again = await receive(webhook, START + 8 * DAY + 7 * HOUR, START + 8 * DAY + 8 * HOUR);
      expect(await round(again + 60_000)).to.deep.equal({ opened: 0, resolved: 1 });
      const [resolved] = await store.webhookIssues.ofWebhook(webhook.id);
      expect(resolved).to.include({ state: 'resolved', reopened: 0 });
      expect(resolved?.stateChangedBy?.kind).to.equal('traffic');
      expect(sent.map(({ name, env }) => [name, env])).to.deep.equal([
        ['tidegate/webhook.failing', 'production'],
        ['tidegate/webhook.recovered', 'production'],
      ]);
      expect(sent[1]?.data).to.include({ issue_id: issue?.id, webhook_id: webhook.id, reason: 'requests_again' });
      // 2.75 hours are not twice the longest pause any more.
      expect((await run(round, again + HOUR, again + 10 * HOUR)).opened).to.equal(0);
    });

    it("the issue of a silence says what the provider's list has, if the webhook is reconciled", async () => {
      const key = { id: 'k', sealed: '', addedAt: START };
      const reconciliation = { account: {}, key, since: START };
      const [quiet, lost] = [await makeWebhook({ reconciliation }), await makeWebhook({ reconciliation })];
      const last = await receive(quiet, START, START + 8 * DAY);
      await receive(lost, START, START + 8 * DAY);
      for (const { id } of [quiet, lost]) {
        await store.webhookReconciliations.change(id, { checked: { from: START, to: last + 2 * HOUR } });
      }
      await store.webhookReconciliations.recordSent(lost.id, [{ id: 'evt_1', ref: 'evt_1', at: last + HOUR }]);
      await run(check(), last, last + 4 * HOUR);
      const samples = await Promise.all([quiet, lost].map(({ id }) => store.webhookIssues.ofWebhook(id)));
      expect(samples.map(([issue]) => issue?.sample.reason)).to.deep.equal(['none_sent', 'requests_lost']);
      expect(samples[1]?.[0]?.sample.message).to.include('has 1, until').and.include('0 recovered, 1 missing');
    });

    it('a silence that somebody has resolved stays resolved, and an ignored one is never announced', async () => {
      const webhook = await makeWebhook();
      const round = check();
      const last = await receive(webhook, START, START + 8 * DAY);
      await run(round, last, last + 4 * HOUR);
      const id = issueIdOf(store.ids, webhook.id, 'silence');
      const by = { kind: 'user', id: '1', name: 'A' } as const;
      await store.webhookIssues.change(id, { to: 'resolved', by }, last + 4 * HOUR);
      expect(await run(round, last + 4 * HOUR, last + 30 * HOUR)).to.include({ opened: 0, resolved: 0 });
      await store.webhookIssues.change(id, { to: 'ignored', by }, last + 30 * HOUR);
      const again = await receive(webhook, last + 30 * HOUR, last + 32 * HOUR);
      expect(await run(round, again, again + 70 * HOUR)).to.include({ opened: 0, resolved: 0 });
      expect(await store.webhookIssues.find(id)).to.include({ state: 'ignored', count: 2 });
      expect(sent).to.have.length(1);
    });

    it('a webhook that is paused, new or rarely used is not silent', async () => {
      const paused = await makeWebhook({ pausedAt: START });
      const young = await makeWebhook({ createdAt: START + 8 * DAY - HOUR });
      const rare = await makeWebhook();
      const round = check();
      const last = await receive(paused, START, START + 8 * DAY);
      await receive(young, START + 8 * DAY - HOUR, START + 8 * DAY, 60_000);
      await receive(rare, START, START + 8 * DAY, DAY);
      expect((await run(round, last, last + 20 * HOUR)).opened).to.equal(0);
    });

    it('time without a web process does not count as silence', async () => {
      const webhook = await makeWebhook();
      const last = await receive(webhook, START, START + 8 * DAY);
      const [running, away] = [check(), check(0)];
      await run(running, last - HOUR, last);
      expect((await run(away, last, last + 12 * HOUR)).opened).to.equal(0);
      const { opened, openedAt } = await run(running, last + 12 * HOUR, last + 18 * HOUR);
      expect(opened).to.equal(1);
      expect(openedAt - last).to.be.at.least(12 * HOUR + 2.5 * HOUR);
    });

    it('two workers that see the same silence open one issue and announce it once', async () => {
      const webhook = await makeWebhook();
      const rounds = [check(), check()];
      const last = await receive(webhook, START, START + 8 * DAY);
      await run(rounds[0] as (typeof rounds)[0], last - HOUR, last);
      for (const at of [last + HOUR, last + 3 * HOUR]) {
        await store.webhookWatch.noteRunning(at);
        await store.redis.hset(store.keys.webhookWatch, { since: last, seen: at });
        await Promise.all(rounds.map((round) => round(at)));
      }
      expect((await store.webhookIssues.ofWebhook(webhook.id)).map(({ count }) => count)).to.deep.equal([1]);
      expect(sent).to.have.length(1);
    });

    it('an announcement that failed is repeated later, under the same ID', async () => {
      const { id } = await makeWebhook({ createdAt: Date.now() });
      isAway = true;
      const deps = parts();
      const watcher = new WebhookWatcher(deps);
      const failed = { outcome: 'rejected', reason: 'transform_failed', message: 'no' } as const;
      watcher.record(id, { id: newId(), receivedAt: Date.now(), ...failed });
      await watcher.flush();
      const partition = store.keys.of(id).number;
      expect(await sendPending(partition, deps, Date.now() + 60_000)).to.equal(0);
      isAway = false;
      expect(await sendPending(partition, deps, Date.now()), 'too early').to.equal(0);
      expect(await sendPending(partition, deps, Date.now() + 60_000)).to.equal(1);
      expect(await sendPending(partition, deps, Date.now() + 60_000)).to.equal(0);
      expect(sent).to.have.length(1);
      expect(sent[0]?.data).to.include({ webhook_id: id, count: 1, kind: 'transform' });
      await watcher.flush();
    });

    it('counts that Redis did not accept are added with the next flush, and a deleted webhook gets no issue', async () => {
      const { id } = await makeWebhook();
      const deleted = newId();
      const deps = parts();
      let refuses = true;
      const refusing = <T extends object>(target: T, names: string[]): T =>
        new Proxy(target, {
          get(of, name) {
            if (refuses && names.includes(String(name))) return () => Promise.reject(new Error('away'));
            const value = Reflect.get(of, name);
            return typeof value === 'function' ? value.bind(of) : value;
          },
        });
      const watcher = new WebhookWatcher({
        ...deps,
        webhookIssues: refusing(store.webhookIssues, ['record']),
        webhookTraffic: refusing(store.webhookTraffic, ['add']),
      });
      const at = Date.now();
      const record = (webhookId: string, reason?: string) =>
        watcher.record(webhookId, {
          id: newId(at),
          receivedAt: at,
          outcome: reason === undefined ? 'accepted' : 'rejected',
          reason,
          verification: { result: 'failed', reason: 'signature_mismatch' },
        });
      record(id, 'verification_failed');
      record(id);
      await watcher.flush();
      expect(await store.webhookIssues.ofWebhook(id)).to.deep.equal([]);
      refuses = false;
      record(id, 'verification_failed');
      record(id, 'overloaded');
      record(deleted, 'transform_failed');
      await watcher.flush();
      const [issue, ...others] = await store.webhookIssues.ofWebhook(id);
      expect(others).to.deep.equal([]);
      expect(issue).to.deep.include({ count: 2, reasons: { signature_mismatch: 2 } });
      expect(await store.webhookIssues.ofWebhook(deleted)).to.deep.equal([]);
      const [hour] = (await store.webhookTraffic.read(id))?.hours ?? [];
      expect(hour).to.include({ requests: 4, accepted: 1, rejected: 3, unverified: 2 });
      await watcher.flush();
    });

    it('a late failure from before an issue was resolved does not reopen it', async () => {
      const { id: webhookId } = await makeWebhook();
      const record = (at: number) => {
        const sample = { requestId: null, reason: 'x', message: '', at };
        const failures = { firstAt: at - 10, lastAt: at, count: 1, reasons: { x: 1 }, sample };
        return store.webhookIssues.record({ webhookId, kind: 'transform', ...failures }, at + 1_000);
      };
      const { id } = await record(START);
      const by = { kind: 'user', id: '1', name: 'A' } as const;
      await store.webhookIssues.change(id, { to: 'resolved', by }, START + 100);
      expect(await record(START + 99)).to.include({ happened: '', state: 'resolved' });
      expect(await record(START + 105)).to.include({ happened: 'reopened', state: 'open', reopened: 1 });
      expect(await store.webhookIssues.find(id)).to.include({ count: 3, openedAt: START + 100, firstSeen: START - 10 });
    });

    it('each kind of failure has its issue, and faults of the service have none', async () => {
      const { id } = await makeWebhook();
      const watcher = new WebhookWatcher(parts());
      const codes = ['transform_quarantined', 'filter_failed', 'transform_failed', 'verification_failed'];
      const others = [
        'overloaded',
        'unavailable',
        'internal',
        'webhook_paused',
        'verification_unavailable',
        'ip_refused',
      ];
      for (const reason of [...codes, ...others]) {
        watcher.record(id, { id: newId(), receivedAt: Date.now(), outcome: 'rejected', reason });
      }
      await watcher.flush();
      const issues = await store.webhookIssues.ofWebhook(id);
      expect(issues.map(({ kind, reasons }) => [kind, reasons])).to.deep.equal([
        ['verification', { verification_failed: 1 }],
        ['transform', { filter_failed: 1, transform_failed: 1 }],
        ['quarantine', { transform_quarantined: 1 }],
      ]);
      expect(new Set(sent.map(({ data }) => data.kind)).size).to.equal(3);
      expect(await store.webhookIssues.count('open', Date.now())).to.equal(3);
    });

    it('an issue has at most 20 reasons', async () => {
      const { id: webhookId } = await makeWebhook();
      const sample = { requestId: null, reason: 'x', message: '', at: START };
      for (let n = 0; n < 30; n++) {
        const failures = { firstAt: START, lastAt: START, count: 1, reasons: { [`reason ${n}`]: 1 }, sample };
        await store.webhookIssues.record({ webhookId, kind: 'transform', ...failures }, Date.now());
      }
      const [issue] = await store.webhookIssues.ofWebhook(webhookId);
      expect(Object.keys(issue?.reasons ?? {})).to.have.length(20);
      expect(issue).to.include({ count: 30 });
      expect(issue?.reasons.other).to.equal(11);
    });

    it('traffic is kept by the hour for eight days, with the longest time without a request', async () => {
      const webhook = await makeWebhook();
      const other = new WebhookTraffic(store.redis as never, store.keys);
      await receive(webhook, START, START + 10 * DAY, DAY / 4);
      const { hours = [], lastAt } = (await other.read(webhook.id)) ?? {};
      expect(lastAt).to.equal(START + 10 * DAY - DAY / 4);
      expect(hours.length).to.equal(32);
      expect(new Set(hours.map(({ longestGapMs }) => longestGapMs))).to.deep.equal(new Set([DAY / 4]));
    });
  });
}
