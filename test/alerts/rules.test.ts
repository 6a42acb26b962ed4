import { expect } from 'chai';
import fc from 'fast-check';
import {
  ALERTS_OF_RULE_MAX,
  type Alert,
  type Change,
  CLEAR_MS,
  evaluate,
  type Measured,
} from '../../src/model/alerts/alert.ts';
import {
  type ChannelLimits,
  type ChannelQueue,
  dueMessage,
  EMPTY_QUEUE,
  enqueued,
  GIVEN_UP_MS,
  GROUP_MS,
  isQuiet,
  LISTED_MAX,
  type Message,
  withFailure,
  withMessage,
  withSent,
} from '../../src/model/alerts/channel-queue.ts';
import { type RuleId, type RuleSettings, settingsOfRule } from '../../src/model/alerts/rules.ts';
import { HOUR_MS, MINUTE_MS } from '../../src/model/values/time.ts';

const measured = (subject: string, value: number, more: Partial<Measured> = {}): Measured => {
  return { subject, name: subject, value, detail: `${value}`, path: '/', ...more };
};

/** Alerts of an environment, round by round. */
class Rounds {
  alerts: Alert[] = [];
  changes: Change[] = [];
  omitted = 0;
  now = Date.UTC(2026, 0, 1);
  #ids = 0;
  readonly rule: RuleId;
  settings: RuleSettings;

  constructor(rule: RuleId, settings: Partial<RuleSettings> = {}) {
    this.rule = rule;
    this.settings = { ...settingsOfRule(rule), ...settings };
  }

  newId = () => `alert-${++this.#ids}`;

  /** @param found undefined: it could not be measured */
  round(found: Measured[] | undefined, afterMs = 10_000): string[] {
    this.now += afterMs;
    const rules = new Map([[this.rule, this.settings]]);
    const values = new Map(found ? [[this.rule, found]] : []);
    const { alerts, newId, now: nowMs } = this;
    const result = evaluate({ alerts, rules, measured: values, nowMs, newId });
    this.alerts = result.alerts;
    this.omitted = result.omitted[this.rule] ?? 0;
    this.changes.push(...result.changes);
    return result.changes.map(({ kind, alert }) => `${kind} ${alert.subject}`);
  }
}

describe('A rule of alerts', () => {
  it('opens an alert once the value has reached the threshold for its window, and not after a short peak', () => {
    const rounds = new Rounds('backlog_old', { windowSeconds: 60 });
    expect(rounds.round([measured('runs', 60)])).to.deep.equal([]);
    expect(rounds.round([measured('runs', 59)])).to.deep.equal([]);
    expect(rounds.alerts).to.deep.equal([]);
    for (let i = 0; i < 6; i++) expect(rounds.round([measured('runs', 61)])).to.deep.equal([]);
    expect(rounds.round([measured('runs', 61)])).to.deep.equal(['opened runs']);
    expect(rounds.round([measured('runs', 61)])).to.deep.equal([]);
  });

  it('resolves it once the value has been a fifth below the threshold for a minute', () => {
    const rounds = new Rounds('function_failing', { threshold: 50 });
    expect(rounds.round([measured('f', 50)])).to.deep.equal(['opened f']);
    expect(rounds.round([measured('f', 41)], CLEAR_MS)).to.deep.equal([]);
    expect(rounds.round([measured('f', 39)], CLEAR_MS)).to.deep.equal([]);
    expect(rounds.round([measured('f', 40)], CLEAR_MS - 1)).to.deep.equal([]);
    expect(rounds.round([])).to.deep.equal([]);
    expect(rounds.round([], CLEAR_MS)).to.deep.equal(['resolved f']);
    expect(rounds.alerts).to.deep.equal([]);
  });

  it('reminds as often as it says, or never', () => {
    const rounds = new Rounds('held_events', { remindSeconds: 3_600 });
    rounds.round([measured('', 1)]);
    expect(rounds.round([measured('', 2)], HOUR_MS - 1)).to.deep.equal([]);
    expect(rounds.round([measured('', 2)], 1)).to.deep.equal(['reminded ']);
    rounds.settings.remindSeconds = 0;
    expect(rounds.round([measured('', 2)], 24 * HOUR_MS)).to.deep.equal([]);
  });

  it('leaves alerts as they are while it cannot be measured, and resolves them when it is switched off', () => {
    const rounds = new Rounds('held_events');
    rounds.round([measured('', 1)]);
    expect(rounds.round(undefined, HOUR_MS)).to.deep.equal([]);
    expect(rounds.alerts).to.have.length(1);
    rounds.settings.isOn = false;
    expect(rounds.round(undefined)).to.deep.equal(['resolved ']);
  });

  it('opens no alert of an error that it knows, and keeps one open', () => {
    const rounds = new Rounds('new_error');
    expect(rounds.round([measured('e', 9, { isKnown: true })])).to.deep.equal([]);
    expect(rounds.round([measured('e', 1)])).to.deep.equal(['opened e']);
    expect(rounds.round([measured('e', 2, { isKnown: true })], 2 * CLEAR_MS)).to.deep.equal([]);
  });

  it('has the worst subjects when there are too many, and counts the others', () => {
    const rounds = new Rounds('function_failing');
    const found = Array.from({ length: 50 }, (_, i) => measured(`f${i}`, 50 + i));
    expect(rounds.round(found)).to.have.length(ALERTS_OF_RULE_MAX);
    expect([rounds.alerts[0]?.subject, rounds.omitted]).to.deep.equal(['f49', 30]);
    expect(rounds.round(found.toReversed())).to.deep.equal([]);
  });

  it('opens, reminds and resolves each alert in this order and once, however values change', () => {
    const value = fc.option(fc.integer({ min: 0, max: 100 }), { nil: undefined });
    const round = fc.record({
      values: fc.array(value, { minLength: 30, maxLength: 30 }),
      isUnknown: fc.boolean(),
      isOn: fc.integer({ min: 0, max: 9 }),
      afterMs: fc.integer({ min: 1, max: 3 * MINUTE_MS }),
    });
    fc.assert(
      fc.property(fc.array(round, { maxLength: 40 }), (all) => {
        const rounds = new Rounds('function_failing', { threshold: 50, remindSeconds: 120 });
        for (const { values, isUnknown, isOn, afterMs } of all) {
          rounds.settings.isOn = isOn > 0;
          const found = values.flatMap((value, i) => (value === undefined ? [] : [measured(`f${i}`, value)]));
          rounds.round(isUnknown ? undefined : found, afterMs);
          const subjects = rounds.alerts.map(({ subject }) => subject);
          expect(new Set(subjects).size).to.equal(subjects.length);
          expect(subjects.length).to.be.at.most(ALERTS_OF_RULE_MAX);
        }
        const byAlert = Map.groupBy(rounds.changes, ({ alert }) => alert.id);
        for (const changes of byAlert.values()) {
          expect(changes.map(({ kind }) => kind).join(' ')).to.match(/^opened( reminded)*( resolved)?$/);
        }
      }),
      { numRuns: 200 },
    );
  });
});

const alertOf = (id: number, rule: RuleId = 'function_failing'): Alert => {
  const texts = { subject: `f${id}`, name: `f${id}`, detail: 'fails', path: '/' };
  return { id: `alert-${id}`, rule, ...texts, value: 1, threshold: 1, since: 0, openedAt: 0 };
};
const change = (kind: Change['kind'], id: number, at: number): Change => ({ kind, at, alert: alertOf(id) });

describe('An alert channel', () => {
  const limits: ChannelLimits = { messagesPerHour: 20 };
  let ids = 0;
  const newId = () => `message-${++ids}`;
  const kinds = ({ changes }: Message | undefined = { changes: [] } as unknown as Message) =>
    changes.map(({ kind, alert }) => `${kind} ${alert.subject}`);

  it('gets what opens together as one message', () => {
    let queue = enqueued(EMPTY_QUEUE, [change('opened', 1, 0)]);
    queue = enqueued(queue, [change('opened', 2, 10_000)]);
    expect(dueMessage(withMessage(queue, limits, [], GROUP_MS - 1, newId), GROUP_MS)).to.equal(undefined);
    const due = dueMessage(withMessage(queue, limits, [], GROUP_MS, newId), GROUP_MS);
    expect(kinds(due)).to.deep.equal(['opened f1', 'opened f2']);
  });

  it('hears of an alert that opened and resolved meanwhile once', () => {
    const changes = [
      change('opened', 1, 0),
      change('reminded', 1, 1),
      change('opened', 2, 2),
      change('resolved', 1, 3),
    ];
    const queue = enqueued(EMPTY_QUEUE, changes);
    expect(queue.waiting.map(({ kind, at }) => [kind, at])).to.deep.equal([
      ['opened', 2],
      ['resolved', 3],
    ]);
    expect(queue.since).to.equal(0);
    const reminded = enqueued(EMPTY_QUEUE, changes.slice(0, 2));
    expect(reminded.waiting.map(({ kind }) => kind)).to.deep.equal(['opened']);
  });

  it('is quiet in its quiet hours, also over midnight and in its time zone', () => {
    const quiet = { from: '22:00', to: '07:00', timeZone: 'Europe/Berlin' };
    const at = (text: string) => isQuiet(quiet, Date.parse(text));
    expect(at('2026-01-10T20:59:59Z')).to.equal(false);
    expect(at('2026-01-10T21:00:00Z')).to.equal(true);
    expect(at('2026-01-11T05:59:59Z')).to.equal(true);
    expect(at('2026-01-11T06:00:00Z')).to.equal(false);
    expect(at('2026-07-10T20:00:00Z')).to.equal(true);
    expect(isQuiet({ from: '12:00', to: '13:00', timeZone: 'UTC' }, Date.parse('2026-01-10T12:30:00Z'))).to.equal(true);
  });

  it('gets a failed message again, with the same ID, ever later, and not after a day', () => {
    let queue = withMessage(enqueued(EMPTY_QUEUE, [change('opened', 1, 0)]), limits, [], GROUP_MS, newId);
    const { id } = queue.message as Message;
    const delays: number[] = [];
    let now = GROUP_MS;
    while (queue.message) {
      expect(dueMessage(queue, now)?.id).to.equal(id);
      queue = withFailure(queue, id, { problem: 'no' }, now);
      if (!queue.message) break;
      expect(dueMessage(queue, queue.message.dueAt - 1)).to.equal(undefined);
      delays.push(queue.message.dueAt - now);
      now = queue.message.dueAt;
    }
    expect(delays.slice(0, 8)).to.deep.equal([5, 10, 20, 40, 80, 160, 300, 300].map((s) => s * 1_000));
    expect(now).to.be.within(GIVEN_UP_MS, GIVEN_UP_MS + 10 * MINUTE_MS);
    expect(queue.problem).to.equal('no');
  });

  it('keeps a message that another process has replaced', () => {
    const queue = withMessage(enqueued(EMPTY_QUEUE, [change('opened', 1, 0)]), limits, [], GROUP_MS, newId);
    expect(withSent(queue, 'another', 1)).to.equal(queue);
    expect(withFailure(queue, 'another', { problem: 'no' }, 1)).to.equal(queue);
  });

  it('gets at most so many messages an hour, none in quiet hours, and nothing is lost: it is named or counted', () => {
    const step = fc.record({
      afterMs: fc.integer({ min: 1, max: 20 * MINUTE_MS }),
      ids: fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 60 }),
      fails: fc.boolean(),
    });
    const run = (steps: { afterMs: number; ids: number[]; fails: boolean }[]) => {
      const own: ChannelLimits = { messagesPerHour: 3, quietHours: { from: '01:00', to: '03:00', timeZone: 'UTC' } };
      let queue: ChannelQueue = EMPTY_QUEUE;
      let now = Date.UTC(2026, 0, 1);
      const sent: { message: Message; at: number }[] = [];
      let given = 0;
      let folded = 0;
      const pass = (afterMs: number, changes: Change[], fails: boolean) => {
        now += afterMs;
        const before = queue.waiting.length;
        const counted = (one: ChannelQueue) => Object.values(one.omitted).reduce((sum, { opened }) => sum + opened, 0);
        const omitted = counted(queue);
        queue = enqueued(queue, changes);
        given += changes.length;
        folded += changes.length - (queue.waiting.length - before) - (counted(queue) - omitted);
        expect(queue.waiting.length).to.be.at.most(LISTED_MAX);
        queue = withMessage(queue, own, [], now, newId);
        const message = dueMessage(queue, now);
        if (!message) return;
        if (fails) queue = withFailure(queue, message.id, { problem: 'no' }, now);
        else {
          sent.push({ message, at: now });
          queue = withSent(queue, message.id, now);
        }
      };
      for (const { afterMs, ids: alerts, fails } of steps) {
        const at = now + afterMs;
        const changes = alerts.map((id) => change('opened', id, at));
        pass(afterMs, changes, fails);
      }
      for (let i = 0; i < 200; i++) pass(10 * MINUTE_MS, [], false);
      for (const { message, at: until } of sent) {
        expect(isQuiet(own.quietHours, message.at)).to.equal(false);
        const inHour = sent.filter(({ at }) => at > until - HOUR_MS && at <= until);
        expect(inHour.length).to.be.at.most(own.messagesPerHour);
      }
      const named = sent.reduce((sum, { message }) => sum + message.changes.length, 0);
      const omitted = sent.flatMap(({ message }) => Object.values(message.omitted));
      expect(named + omitted.reduce((sum, { opened }) => sum + opened, 0) + folded).to.equal(given);
    };
    fc.assert(fc.property(fc.array(step, { maxLength: 60 }), run), { numRuns: 100 });
  });
});
