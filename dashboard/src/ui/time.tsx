import { useSyncExternalStore } from 'react';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../lib/time-units.ts';

const TICK_MS = 1_000;
/** One timer for the whole page, not one per row. */
let nowMs = Date.now();
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    nowMs = Date.now();
    for (const each of listeners) each();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Without subscribers no timer runs, so a stored time would be as old as the last time on the page. */
function snapshot(): number {
  if (!timer && Date.now() - nowMs >= TICK_MS) nowMs = Date.now();
  return nowMs;
}

export function useNow(): number {
  return useSyncExternalStore(subscribe, snapshot);
}

/** Relative time; the tooltip has the absolute time.
 *  @param at ISO 8601, or Unix milliseconds */
export function Time({ at }: { at: string | number | null | undefined }) {
  const now = useNow();
  if (at === null || at === undefined) return <span className="text-muted">–</span>;
  const date = new Date(at);
  return (
    <time dateTime={date.toISOString()} title={absolute(date)} className="whitespace-nowrap tabular-nums">
      {relative(sinceTick(date.getTime() - now))}
    </time>
  );
}

/** An event after the last tick is shown as past, not future. */
function sinceTick(differenceMs: number): number {
  return differenceMs > 0 && differenceMs <= TICK_MS ? 0 : differenceMs;
}

/** A time to come, absolute and relative: "7 Dec 2026, 13:05 (in 14 d)". */
export function Moment({ at }: { at: string }) {
  const now = useNow();
  const date = new Date(at);
  return (
    <time dateTime={date.toISOString()} title={absolute(date)} className="tabular-nums">
      {momentFormat.format(date)} ({relative(Math.max(0, date.getTime() - now))})
    </time>
  );
}

/** A time of the past by which people know something: "29 Nov 2026, 09:00". */
export function DateTime({ at }: { at: string }) {
  const date = new Date(at);
  return (
    <time dateTime={date.toISOString()} title={absolute(date)} className="tabular-nums">
      {momentFormat.format(date)}
    </time>
  );
}

const momentFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

const absoluteFormat = new Intl.DateTimeFormat(undefined, {
  dateStyle: 'medium',
  timeStyle: 'long',
});

/** In the browser's time zone, and in UTC with milliseconds. */
export function absolute(date: Date): string {
  return `${absoluteFormat.format(date)} (${date.toISOString()})`;
}

const UNITS: [name: string, ms: number][] = [
  ['d', DAY_MS],
  ['h', HOUR_MS],
  ['min', MINUTE_MS],
  ['s', SECOND_MS],
];

export function relative(differenceMs: number): string {
  return differenceMs < 0 ? past(-differenceMs) : future(differenceMs);
}

/** An age in whole units. */
function past(size: number): string {
  const [name, ms] = UNITS.find(([, unit]) => size >= unit) ?? ['s', 1_000];
  const count = Math.floor(size / ms);
  return count === 0 ? 'now' : `${count} ${name} ago`;
}

/** Rounded: a sleep of 14 days wakes "in 14 d" from its first second on. Of a time below two units, the smaller unit says more: "in 36 h". */
function future(size: number): string {
  const [name, ms] = UNITS.find(([, unit]) => size >= 1.95 * unit) ?? ['s', 1_000];
  const count = Math.round(size / ms);
  return count === 0 ? 'now' : `in ${count} ${name}`;
}

/** A duration in its two largest units. */
export function duration(ms: number): string {
  if (ms < 1) return '< 1 ms';
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < MINUTE_MS) return `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  const [name, unit] = UNITS.find(([, size]) => ms >= size) ?? ['s', 1_000];
  const rest = UNITS[UNITS.findIndex(([each]) => each === name) + 1];
  const whole = Math.floor(ms / unit);
  const left = rest ? Math.floor((ms - whole * unit) / rest[1]) : 0;
  return left > 0 && rest ? `${whole} ${name} ${left} ${rest[0]}` : `${whole} ${name}`;
}
