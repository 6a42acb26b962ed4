/** Evaluates the rules of alerts. All state of a round is in Redis, so any process can do it: also a web process, while there is no worker. */
import { duty } from '../../duties/duty.ts';
import type { Logger } from '../../log.ts';
import { type Alert, evaluate, isOpen, type Measured } from '../../model/alerts/alert.ts';
import { EMPTY_QUEUE, enqueued } from '../../model/alerts/channel-queue.ts';
import { type RuleId, type RuleSettings, rulesOf, settingsOfRule } from '../../model/alerts/rules.ts';
import { type Environment, PRODUCTION } from '../../model/environment.ts';
import { ALERT_OPENED, ALERT_RESOLVED } from '../../model/events/event.ts';
import { newId } from '../../model/ids.ts';
import { Composed } from '../../model/values/composed.ts';
import type { Store } from '../../store/store.ts';
import type { Acceptor } from '../acceptance/acceptor.ts';
import type { FunctionTables } from '../functions/function-tables.ts';
import { alertData } from './channel-requests.ts';
import type { MeasureContext } from './measures.ts';

export const alertEvaluation = duty<{ alertRounds: AlertRounds }>({
  name: 'alerts',
  about: 'Evaluates the rules of alerts, and opens, repeats and resolves alerts',
  scope: 'installation',
  everyMs: 10_000,
  leaseMs: 30_000,
  rounds:
    ({ alertRounds }) =>
    ({ signal }) =>
      alertRounds.evaluateAll(Date.now(), signal),
});

/** Branch environments have no alerts: they come and go. */
export function hasAlerts({ kind, archivedAt }: Environment): boolean {
  return kind !== 'branch' && archivedAt === undefined;
}

export interface AlertRoundsDeps
  extends Pick<Store, 'alertBooks' | 'alertChannels' | 'alertRules' | 'ids' | 'keys' | 'environments' | 'waits'> {
  measure: (rule: RuleId, context: MeasureContext) => Promise<Measured[]>;
  functions: Pick<FunctionTables, 'of'>;
  acceptor: Pick<Acceptor, 'acceptWithId'>;
  /** undefined: messages have no links. */
  publicUrl: string | undefined;
  log: Logger;
}

export class AlertRounds extends Composed<AlertRoundsDeps> {
  async evaluateAll(nowMs: number, signal: AbortSignal): Promise<void> {
    let failure: Error | undefined;
    for (const environment of (await this.deps.environments.all()).filter(hasAlerts)) {
      if (signal.aborted) return;
      try {
        await this.evaluateOne(environment.name, nowMs);
      } catch (error) {
        failure ??= error as Error;
      }
    }
    if (failure) throw failure;
  }

  async evaluateOne(env: string, nowMs: number): Promise<void> {
    const { alertBooks, alertChannels, alertRules, log } = this.deps;
    const [choices, channels] = await Promise.all([alertRules.all(env), alertChannels.all(env)]);
    const rules = new Map(rulesOf(env === PRODUCTION).map((id) => [id, settingsOfRule(id, choices.get(id))]));
    const measured = await this.#measure(env, rules, nowMs);
    const known = new Set(channels.map(({ name }) => name));
    const hears = (name: string, alert: Alert) => {
      const own = alert.channels?.filter((channel) => known.has(channel));
      return (own?.length ? own : rules.get(alert.rule)?.channels)?.includes(name) ?? true;
    };
    const { unrecorded } = await alertBooks.change(env, (book) => {
      const round = evaluate({ alerts: book.alerts, rules, measured, nowMs, newId });
      const hearing = channels.map(({ name }) => {
        const heard = round.changes.filter(({ alert }) => hears(name, alert));
        return [name, enqueued(book.queues.get(name) ?? EMPTY_QUEUE, heard)] as const;
      });
      const isIdle = (queue: typeof EMPTY_QUEUE) => JSON.stringify(queue) === JSON.stringify(EMPTY_QUEUE);
      const told = round.changes.filter(({ kind }) => kind !== 'reminded');
      return {
        alerts: round.alerts,
        omitted: round.omitted,
        unrecorded: [...book.unrecorded, ...told],
        queues: new Map(hearing.filter(([, queue]) => !isIdle(queue))),
      };
    });
    if (unrecorded.length === 0) return;
    const open = unrecorded.filter(({ kind }) => kind === 'opened').length;
    log.info({ environment: env, opened: open, resolved: unrecorded.length - open }, 'alerts opened or resolved');
    await this.#record(env, nowMs);
  }

  /** A rule that cannot be measured leaves its alerts as they are. */
  async #measure(env: string, rules: ReadonlyMap<RuleId, RuleSettings>, nowMs: number) {
    const { measure, log } = this.deps;
    const measured = new Map<RuleId, readonly Measured[]>();
    for (const [id, settings] of rules) {
      if (!settings.isOn) continue;
      try {
        measured.set(id, await measure(id, { env, settings, nowMs }));
      } catch (error) {
        log.debug({ environment: env, rule: id, err: (error as Error).message }, 'a rule of alerts was not measured');
      }
    }
    return measured;
  }

  /** Sends the events of changes, each with the same ID on all attempts, where a function or a wait listens
   *  (docs/decisions/0020-lifecycle-events.md), and keeps resolved alerts. */
  async #record(env: string, nowMs: number): Promise<void> {
    const { alertBooks, acceptor, ids, keys, publicUrl } = this.deps;
    const { unrecorded } = await alertBooks.read(env);
    for (const { kind, at, alert } of unrecorded) {
      const eventId = ids.ownEvent(at, keys.of(alert.id).number, 'alert', env, alert.id, kind);
      const name = kind === 'resolved' ? ALERT_RESOLVED : ALERT_OPENED;
      if (!(await this.#isHeard(env, name))) continue;
      await acceptor.acceptWithId({ name, data: alertData(alert, env, publicUrl) }, eventId, {
        env,
        source: 'service',
        requestId: eventId,
        receivedAt: at,
      });
    }
    await alertBooks.addPast(
      env,
      unrecorded.flatMap(({ kind, alert }) => (kind === 'resolved' && isOpen(alert) ? [alert] : [])),
      nowMs,
    );
    const done = new Set(unrecorded.map(({ kind, alert }) => `${kind} ${alert.id}`));
    await alertBooks.change(env, (book) => ({
      ...book,
      unrecorded: book.unrecorded.filter(({ kind, alert }) => !done.has(`${kind} ${alert.id}`)),
    }));
  }

  async #isHeard(env: string, name: string): Promise<boolean> {
    const { functions, waits } = this.deps;
    return (await functions.of(env)).isTrigger(name) || (await waits.areAny(env, name));
  }
}
