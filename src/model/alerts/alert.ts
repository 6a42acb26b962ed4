/** Decides when alerts open, remind and resolve. Pure: a round takes the alerts and the measurements, and returns
 *  the alerts and their changes. */
import { type RuleId, type RuleSettings, ruleOf } from './rules.ts';

/** An alert resolves only after the value was clear for this long, so that a value around the threshold does not open and resolve it again
 *  and again. */
export const CLEAR_MS = 60_000;
/** A value of a share, an age or a count must fall below this part of the threshold. */
const CLEAR_SHARE = 0.8;
/** Maximum number of alerts per environment and rule; the worst are kept. */
export const ALERTS_OF_RULE_MAX = 20;
const NAME_MAX = 200;
const DETAIL_MAX = 300;

/** The measurement of a rule for one subject, such as a function. */
export interface Measured {
  subject: string;
  name: string;
  value: number;
  detail: string;
  /** Page of the dashboard, with its query, that shows the cause. */
  path: string;
  /** It may keep an alert open, but not open one. */
  isKnown?: boolean;
  /** Names of the alert channels to which it is sent; absent: those of the rule. */
  channels?: readonly string[] | undefined;
}

export interface Alert {
  id: string;
  rule: RuleId;
  subject: string;
  name: string;
  detail: string;
  path: string;
  value: number;
  /** The threshold at the last round. */
  threshold: number;
  /** The time since which the value has reached the threshold, Unix milliseconds. */
  since: number;
  /** Absent: the value has not reached the threshold for as long as the rule says. */
  openedAt?: number;
  /** The time since which the value has been below again. */
  clearSince?: number;
  remindedAt?: number;
  resolvedAt?: number;
  channels?: readonly string[] | undefined;
}

export const CHANGES = ['opened', 'reminded', 'resolved'] as const;

/** A change of an alert, about which alert channels send messages. */
export interface Change {
  kind: (typeof CHANGES)[number];
  at: number;
  alert: Alert;
}

export interface Round {
  /** Alerts of the environment that are open, or may open soon. */
  alerts: readonly Alert[];
  rules: ReadonlyMap<RuleId, RuleSettings>;
  /** Keyed by rule; absent: it could not be measured, so its alerts stay as they are. */
  measured: ReadonlyMap<RuleId, readonly Measured[]>;
  nowMs: number;
  newId: () => string;
}

export interface Evaluated {
  alerts: Alert[];
  changes: Change[];
  /** Subjects without an alert, because the rule has too many. */
  omitted: Partial<Record<RuleId, number>>;
}

export function evaluate({ alerts, rules, measured, nowMs, newId }: Round): Evaluated {
  const result: Evaluated = { alerts: [], changes: [], omitted: {} };
  for (const [rule, settings] of rules) {
    const before = alerts.filter((alert) => alert.rule === rule);
    const found = settings.isOn ? measured.get(rule) : [];
    if (!found) {
      result.alerts.push(...before);
      continue;
    }
    const { after, changes, omitted } = evaluateRule(rule, settings, before, found, nowMs, newId);
    result.alerts.push(...after);
    result.changes.push(...changes);
    if (omitted > 0) result.omitted[rule] = omitted;
  }
  // A rule that the environment no longer has.
  for (const alert of alerts) if (!rules.has(alert.rule) && isOpen(alert)) result.changes.push(resolved(alert, nowMs));
  return result;
}

export function isOpen({ openedAt }: Alert): boolean {
  return openedAt !== undefined;
}

function evaluateRule(
  rule: RuleId,
  settings: RuleSettings,
  before: readonly Alert[],
  found: readonly Measured[],
  nowMs: number,
  newId: () => string,
) {
  const bySubject = new Map(found.map((measured) => [measured.subject, measured]));
  const known = new Set(before.map(({ subject }) => subject));
  const after: Alert[] = [];
  const changes: Change[] = [];
  for (const alert of before) {
    const next = continued(alert, bySubject.get(alert.subject), settings, nowMs);
    if (next.alert) after.push(next.alert);
    if (next.change) changes.push(next.change);
  }
  const starting = found
    .filter(({ subject, value, isKnown }) => !known.has(subject) && !isKnown && value >= settings.threshold)
    .sort((a, b) => b.value - a.value);
  const room = Math.max(0, ALERTS_OF_RULE_MAX - after.length);
  for (const measured of starting.slice(0, room)) {
    const alert = withMeasured({ id: newId(), rule, subject: measured.subject, since: nowMs }, measured, settings);
    const next = opened(alert, settings, nowMs);
    after.push(next.alert);
    if (next.change) changes.push(next.change);
  }
  return { after, changes, omitted: Math.max(0, starting.length - room) };
}

/** @param measured undefined: nothing is wrong */
function continued(
  alert: Alert,
  measured: Measured | undefined,
  settings: RuleSettings,
  nowMs: number,
): { alert?: Alert; change?: Change } {
  const { clearSince, ...rest } = alert;
  const value = measured?.value ?? 0;
  const level = isOpen(alert) ? settings.threshold * CLEAR_SHARE : settings.threshold;
  const isOver = settings.isOn && measured !== undefined && value >= level;
  const current = measured ? withMeasured(rest, measured, settings) : { ...rest, value };
  if (isOver) return isOpen(alert) ? reminded(current, settings, nowMs) : opened(current, settings, nowMs);
  if (!isOpen(alert)) return {};
  const since = clearSince ?? nowMs;
  if (settings.isOn && nowMs - since < CLEAR_MS) return { alert: { ...current, clearSince: since } };
  // The change has the alert before this measurement, because its message says what was wrong.
  return { change: resolved(alert, nowMs) };
}

function opened(alert: Alert, { windowSeconds }: RuleSettings, nowMs: number): { alert: Alert; change?: Change } {
  const forMs = ruleOf(alert.rule).window === 'for' ? windowSeconds * 1_000 : 0;
  if (nowMs - alert.since < forMs) return { alert };
  const open = { ...alert, openedAt: nowMs, remindedAt: nowMs };
  return { alert: open, change: { kind: 'opened', at: nowMs, alert: open } };
}

function reminded(alert: Alert, { remindSeconds }: RuleSettings, nowMs: number): { alert: Alert; change?: Change } {
  const { openedAt = nowMs, remindedAt = openedAt } = alert;
  if (remindSeconds === 0 || nowMs - remindedAt < remindSeconds * 1_000) return { alert };
  const again = { ...alert, remindedAt: nowMs };
  return { alert: again, change: { kind: 'reminded', at: nowMs, alert: again } };
}

function resolved(alert: Alert, nowMs: number): Change {
  return { kind: 'resolved', at: nowMs, alert: { ...alert, resolvedAt: nowMs } };
}

function withMeasured(
  alert: Omit<Alert, 'name' | 'detail' | 'path' | 'value' | 'threshold'>,
  { name, detail, path, value, channels }: Measured,
  { threshold }: RuleSettings,
): Alert {
  const texts = { name: name.slice(0, NAME_MAX).toWellFormed(), detail: detail.slice(0, DETAIL_MAX).toWellFormed() };
  return { ...alert, ...texts, path, value, threshold, channels };
}
