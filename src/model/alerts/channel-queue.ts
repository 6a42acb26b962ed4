/** Decides when an alert channel sends its messages: changes that occur together share one message, quiet hours and an hourly limit delay
 *  it, and messages beyond the limit are only counted. Pure, as alert.ts. */
import { wallClockOffsetMs } from '../schedules/wall-clock.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../values/time.ts';
import { type Alert, CHANGES, type Change, isOpen } from './alert.ts';
import type { RuleId } from './rules.ts';

/** How long a change waits for others. */
export const GROUP_MS = 15_000;
/** Changes that a message names; the others are counted. */
export const LISTED_MAX = 20;
const FIRST_RETRY_MS = 5_000;
const LONGEST_RETRY_MS = 5 * MINUTE_MS;
/** A message is given up when no attempt could send it for this long. */
export const GIVEN_UP_MS = DAY_MS;

/** Every day, from a time of the wall clock to another one: `22:00` to `07:00`. */
export interface QuietHours {
  from: string;
  to: string;
  timeZone: string;
}

export interface ChannelLimits {
  quietHours?: QuietHours | undefined;
  messagesPerHour: number;
}

export type Counts = Record<Change['kind'], number>;
/** Changes that are not named, by rule. */
export type CountsByRule = Partial<Record<RuleId, Counts>>;

export interface Message {
  id: string;
  /** Unix milliseconds. */
  at: number;
  changes: Change[];
  omitted: CountsByRule;
  /** Open alerts by rule at that time, of the rules with changes. */
  open: Partial<Record<RuleId, number>>;
}

export interface ChannelQueue {
  waiting: Change[];
  /** When the first of them came, Unix milliseconds. */
  since?: number;
  omitted: CountsByRule;
  /** When messages of the last hour were sent. */
  sentAt: number[];
  /** It is stored before it is sent, so that each attempt sends the same. */
  message?: Message & { attempts: number; dueAt: number };
  /** Why the last attempt failed. Absent: it did not. */
  problem?: string;
}

export const EMPTY_QUEUE: ChannelQueue = { waiting: [], omitted: {}, sentAt: [] };

/** Only the last change of an alert waits; a reminder of an alert whose opening was not sent becomes its opening. */
export function enqueued(queue: ChannelQueue, changes: readonly Change[]): ChannelQueue {
  let { waiting, omitted } = queue;
  for (const change of changes) {
    const earlier = waiting.find(({ alert }) => alert.id === change.alert.id);
    waiting = waiting.filter((change) => change !== earlier);
    const kind = change.kind === 'reminded' && earlier ? earlier.kind : change.kind;
    if (waiting.length < LISTED_MAX) waiting = [...waiting, { ...change, kind }];
    else omitted = counted(omitted, change);
  }
  const since = queue.since ?? changes[0]?.at;
  return { ...queue, waiting, omitted, ...(since !== undefined && { since }) };
}

/** The queue, with a message if it is time for one. */
export function withMessage(
  queue: ChannelQueue,
  limits: ChannelLimits,
  alerts: readonly Alert[],
  nowMs: number,
  newId: () => string,
): ChannelQueue {
  const sentAt = queue.sentAt.filter((at) => at > nowMs - HOUR_MS);
  const { since } = queue;
  const isHeldBack = since === undefined || nowMs - since < GROUP_MS || sentAt.length >= limits.messagesPerHour;
  if (queue.message || isHeldBack || isQuiet(limits.quietHours, nowMs)) return queue;
  const { waiting, omitted, problem } = queue;
  const rules = new Set([...waiting.map(({ alert }) => alert.rule), ...(Object.keys(omitted) as RuleId[])]);
  const open = Object.fromEntries(
    [...rules].map((rule) => [rule, alerts.filter((alert) => alert.rule === rule && isOpen(alert)).length]),
  );
  const message = { id: newId(), at: nowMs, changes: waiting, omitted, open, attempts: 0, dueAt: nowMs };
  return { ...EMPTY_QUEUE, sentAt, message, ...(problem !== undefined && { problem }) };
}

export function dueMessage({ message }: ChannelQueue, nowMs: number): Message | undefined {
  return message && message.dueAt <= nowMs ? message : undefined;
}

/** @param id ID of the sent message; any other message stays */
export function withSent(queue: ChannelQueue, id: string, nowMs: number): ChannelQueue {
  const { message, problem: _, ...rest } = queue;
  return message?.id === id ? { ...rest, sentAt: [...rest.sentAt, nowMs] } : queue;
}

/** @param retryAfterMs as the receiver said
 *  @returns the queue, without the message if it was tried for too long */
export function withFailure(
  queue: ChannelQueue,
  id: string,
  { problem, retryAfterMs = 0 }: { problem: string; retryAfterMs?: number | undefined },
  nowMs: number,
): ChannelQueue {
  const { message, ...rest } = queue;
  if (message?.id !== id) return queue;
  if (nowMs - message.at >= GIVEN_UP_MS) return { ...rest, problem };
  const attempts = message.attempts + 1;
  const backoffMs = Math.min(FIRST_RETRY_MS * 2 ** (attempts - 1), LONGEST_RETRY_MS);
  const delayMs = Math.max(backoffMs, Math.min(retryAfterMs, HOUR_MS));
  return { ...rest, message: { ...message, attempts, dueAt: nowMs + delayMs }, problem };
}

export function isQuiet(quietHours: QuietHours | undefined, nowMs: number): boolean {
  if (!quietHours) return false;
  const { from, to, timeZone } = quietHours;
  const local = (nowMs + wallClockOffsetMs(nowMs, timeZone)) % DAY_MS;
  const [start, end] = [msOf(from), msOf(to)];
  return start < end ? local >= start && local < end : local >= start || local < end;
}

/** @param time such as `07:00` */
function msOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * HOUR_MS + minutes * MINUTE_MS;
}

function counted(omitted: CountsByRule, { kind, alert: { rule } }: Change): CountsByRule {
  const counts = omitted[rule] ?? (Object.fromEntries(CHANGES.map((kind) => [kind, 0])) as Counts);
  return { ...omitted, [rule]: { ...counts, [kind]: counts[kind] + 1 } };
}
