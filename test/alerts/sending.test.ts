import { fork } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { readConfig } from '../../src/config.ts';
import { DutyRunner } from '../../src/duties/runner.ts';
import { AlertRounds } from '../../src/jobs/alerts/alert-rounds.ts';
import { AlertSender } from '../../src/jobs/alerts/alert-sender.ts';
import { AlertSending, alertDelivery } from '../../src/jobs/alerts/alert-sending.ts';
import { createLog } from '../../src/log.ts';
import { NOOP_RECORDER } from '../../src/metrics/recorder.ts';
import { ALERTS_OF_RULE_MAX, type Measured } from '../../src/model/alerts/alert.ts';
import type { ChannelKind } from '../../src/model/alerts/channel.ts';
import { GROUP_MS, LISTED_MAX } from '../../src/model/alerts/channel-queue.ts';
import type { RuleId } from '../../src/model/alerts/rules.ts';
import type { AppFunction } from '../../src/model/apps/app.ts';
import { TriggerTable } from '../../src/model/events/triggers.ts';
import { HOUR_MS } from '../../src/model/values/time.ts';
import { type OwnStore, openStore } from '../support/own-store.ts';
import { Receiver } from '../support/receiver.ts';

const PROGRAM = resolve(import.meta.dirname, '../support/alert-program.ts');
const log = createLog('silent', 'test');
const never = new AbortController().signal;
const { outbound } = readConfig({ MODE: 'dev' });

/** A function that acts on alerts. */
const listening: AppFunction = {
  ...{ id: 'on-alert', name: 'on-alert', app: 'app', url: 'http://127.0.0.1:1', dialect: 'service', retries: 0 },
  ...{ triggers: [{ event: 'tidegate/alert.*' }], cancel: [], archived: false, config: {} },
};

describe('Messages of alerts', () => {
  let store: OwnStore;
  let receiver: Receiver;
  let sender: AlertSender;
  let accepted: { name: string; id: string; rule: unknown }[];
  let found: Partial<Record<RuleId, Measured[]>>;
  let now: number;
  beforeEach(async () => {
    [store, receiver] = await Promise.all([openStore(), Receiver.start()]);
    sender = new AlertSender({ outbound, mail: undefined });
    accepted = [];
    found = {};
    // Its time passes faster: IDs of a time to come would be those of all later tests of this process.
    now = Date.now() - 3 * HOUR_MS;
  });
  afterEach(async () => {
    await sender.close();
    await Promise.all([store.close(), receiver.stop()]);
  });

  /** Rounds over what the test says is measured. */
  const rounds = (): AlertRounds => {
    return new AlertRounds({
      ...store,
      measure: async (rule) => found[rule] ?? [],
      functions: { of: async () => new TriggerTable([listening]) },
      acceptor: {
        async acceptWithId({ name, data }, id) {
          accepted.push({ name, id, rule: data.rule });
          return id;
        },
      },
      publicUrl: undefined,
      log,
    });
  };
  const sending = () => new AlertSending({ ...store, alertSender: sender, publicUrl: undefined, log });

  async function addChannel(name: string, kind: ChannelKind, messagesPerHour = 20): Promise<void> {
    const sealed = store.alertChannels.seal('production', name, {
      url: receiver.url(`/${name}`),
      key: 'k',
      signing: 'whsec_AAAA',
    });
    const channel = { name, kind, address: 'test', sealed, messagesPerHour, createdAt: now, updatedAt: now };
    await store.alertChannels.create('production', channel);
  }

  const measured = (subject: string, value = 100): Measured => {
    return { subject, name: subject, value, detail: 'fails', path: '/' };
  };

  const ids = (path: string) => receiver.at(path).map(({ headers }) => headers['webhook-id']);

  it('have the same ID when their process dies before it has noted that they were sent', async () => {
    await addChannel('hook', 'webhook');
    found.held_events = [measured('', 1)];
    await rounds().evaluateOne('production', now);
    const killed = Promise.withResolvers<void>();
    receiver.on('/hook', async (_, number) => {
      if (number > 0) return {};
      await killed.promise;
      return {};
    });
    const child = fork(PROGRAM, [store.prefix, String(now + GROUP_MS)], { stdio: 'inherit' });
    await receiver.got('/hook');
    child.kill('SIGKILL');
    await once(child, 'exit');
    killed.resolve();
    await sending().sendAll(now + GROUP_MS, never);
    await sending().sendAll(now + GROUP_MS, never);
    const [first, ...others] = ids('/hook');
    expect(others).to.deep.equal([first]);
    expect((await store.alertBooks.read('production')).queues.get('hook')?.sentAt).to.have.length(1);
  });

  it('are sent to channels of any name', async () => {
    const names = ['constructor', 'hook', 'toString', 'valueOf'];
    for (const name of names) await addChannel(name, 'webhook');
    found.held_events = [measured('', 1)];
    await rounds().evaluateOne('production', now);
    await sending().sendAll(now + GROUP_MS, never);
    expect(names.map((name) => ids(`/${name}`).length)).to.deep.equal([1, 1, 1, 1]);
  });

  it('are sent by one of several processes, once', async () => {
    await addChannel('hook', 'webhook');
    found.held_events = [measured('', 1)];
    await rounds().evaluateOne('production', now - GROUP_MS);
    const runners = [1, 2, 3].map(() => new DutyRunner({ locks: store.locks, recorder: NOOP_RECORDER, log }));
    const started = runners.map((runner) => runner.start([alertDelivery], { alertSending: sending() }));
    for (let i = 0; i < 3; i++) await Promise.all(runners.map((runner) => runner.runNow(alertDelivery.name)));
    await Promise.all(started.map((process) => process.close()));
    expect(ids('/hook')).to.have.length(1);
  });

  it('open alerts once when two processes evaluate at the same time', async () => {
    found.function_failing = ['a', 'b', 'c'].map((subject) => measured(subject));
    await Promise.all([1, 2, 3].map(() => rounds().evaluateOne('production', now)));
    const { alerts, unrecorded } = await store.alertBooks.read('production');
    expect(alerts.map(({ subject }) => subject)).to.deep.equal(['a', 'b', 'c']);
    expect(unrecorded).to.deep.equal([]);
    expect(new Set(accepted.map(({ id }) => id)).size).to.equal(3);
  });

  it('stay until their server accepts them, and wait as long as it says', async () => {
    receiver.on('/hook', (_, number) => (number === 0 ? { status: 429, headers: { 'retry-after': '60' } } : {}));
    await addChannel('hook', 'webhook');
    found.held_events = [measured('', 1)];
    await rounds().evaluateOne('production', now);
    await sending().sendAll(now + GROUP_MS, never);
    const { queues } = await store.alertBooks.read('production');
    expect(queues.get('hook')?.problem).to.equal('status 429: ok');
    await sending().sendAll(now + GROUP_MS + 30_000, never);
    expect(ids('/hook')).to.have.length(1);
    await sending().sendAll(Date.now() + 61_000, never);
    const [first, second] = ids('/hook');
    expect(second).to.equal(first);
    expect((await store.alertBooks.read('production')).queues.get('hook')).not.to.have.property('problem');
  });

  it('are not accepted by a channel that does not respond to each of their requests in time', async () => {
    const hasty = new AlertSender({ outbound, mail: undefined, timeoutMs: 500 });
    receiver.on('/pager', async () => {
      await setTimeout(300);
      return {};
    });
    await addChannel('pager', 'pagerduty');
    found = { function_failing: [measured('a')], new_error: [measured('b')], held_events: [measured('')] };
    await rounds().evaluateOne('production', now);
    await new AlertSending({ ...store, alertSender: hasty, publicUrl: undefined, log }).sendAll(now + GROUP_MS, never);
    await hasty.close();
    const { queues } = await store.alertBooks.read('production');
    expect(queues.get('pager')?.problem).to.equal('not accepted within 0.5 s');
    expect(receiver.at('/pager').length).to.be.below(3);
  });

  it('are few and short when everything fails at once, and say how much more there is', async () => {
    await Promise.all([
      addChannel('hook', 'webhook', 2),
      addChannel('chat', 'slack', 2),
      addChannel('pager', 'pagerduty', 2),
    ]);
    const everything = Array.from({ length: 5_000 }, (_, i) => ({
      ...measured(`f${i}`, i),
      detail: 'x'.repeat(5_000),
    }));
    found = { function_failing: everything, new_error: everything, limit_holds: everything, lane_stopped: everything };
    await rounds().evaluateOne('production', now);
    for (let i = 0; i < 100; i++) {
      now += 30_000;
      const subset = everything.filter((_, n) => n % 7 !== i % 7);
      found = { function_failing: subset, new_error: subset, limit_holds: subset, lane_stopped: subset };
      await rounds().evaluateOne('production', now);
      await sending().sendAll(now, never);
    }
    const book = await store.redis.hget(store.keys.alertBook('production'), 'book');
    expect(Buffer.byteLength(book ?? '')).to.be.below(250_000);
    const { alerts, omitted } = await store.alertBooks.read('production');
    expect(alerts).to.have.length(4 * ALERTS_OF_RULE_MAX);
    expect(omitted.function_failing).to.be.greaterThan(4_000);
    // 50 minutes, two messages an hour.
    expect(receiver.at('/hook')).to.have.length(2);
    expect(receiver.at('/chat')).to.have.length(2);
    const [first] = receiver.at('/hook').map(({ body }) => JSON.parse(body.toString()));
    expect(first.data.changes).to.have.length(LISTED_MAX);
    expect(JSON.stringify(first.data.omitted)).to.include('"opened"');
    for (const { body } of receiver.at('/chat')) expect(body.length).to.be.below(36_000);
    const keys = receiver.at('/pager').map(({ body }) => JSON.parse(body.toString()).dedup_key);
    expect(new Set(keys).size).to.equal(4);
    expect(keys.length).to.be.at.most(8);
  });

  it('close the incident of a rule when its last alert is resolved', async () => {
    await addChannel('pager', 'pagerduty');
    found.function_failing = [measured('a'), measured('b')];
    const pass = async (afterMs: number) => {
      now += afterMs;
      await rounds().evaluateOne('production', now);
      await sending().sendAll(now, never);
    };
    await pass(0);
    await pass(GROUP_MS);
    found.function_failing = [measured('b')];
    await pass(GROUP_MS);
    await pass(HOUR_MS);
    await pass(GROUP_MS);
    found.function_failing = [];
    await pass(GROUP_MS);
    await pass(HOUR_MS);
    await pass(GROUP_MS);
    const sent = receiver.at('/pager').map(({ body }) => JSON.parse(body.toString()));
    expect(sent.map(({ event_action }) => event_action)).to.deep.equal(['trigger', 'trigger', 'resolve']);
    expect(new Set(sent.map(({ dedup_key }) => dedup_key))).to.deep.equal(
      new Set(['tidegate/production/function_failing']),
    );
    expect((await store.alertBooks.past('production')).map(({ subject }) => subject).sort()).to.deep.equal(['a', 'b']);
    expect(accepted.map(({ name }) => name).sort()).to.deep.equal([
      'tidegate/alert.opened',
      'tidegate/alert.opened',
      'tidegate/alert.resolved',
      'tidegate/alert.resolved',
    ]);
  });
});
