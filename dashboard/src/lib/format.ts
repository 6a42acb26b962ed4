/** Numbers as text. */
const short = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });
const whole = new Intl.NumberFormat();

export const formatCount = (value: number): string => (value < 10_000 ? whole.format(value) : short.format(value));

/** A rate with enough digits to differ from 0. */
export function formatRate(perSecond: number): string {
  if (perSecond === 0) return '0';
  if (perSecond < 0.01) return '< 0.01';
  return short.format(Number(perSecond.toFixed(perSecond < 1 ? 2 : 1)));
}

export function formatPercent(share: number): string {
  if (share > 0 && share < 0.001) return '< 0.1%';
  return `${(share * 100).toFixed(share < 0.1 ? 1 : 0).replace(/\.0$/, '')}%`;
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

export function formatBytes(size: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log(Math.max(size, 1)) / Math.log(1024)));
  const value = size / 1024 ** power;
  return `${value.toFixed(power === 0 || value >= 100 ? 0 : 1)} ${UNITS[power]}`;
}

export function formatMilliseconds(ms: number): string {
  if (ms >= 10_000) return `${(ms / 1_000).toFixed(0)} s`;
  if (ms >= 1_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${ms < 10 && ms > 0 ? ms.toFixed(1).replace(/\.0$/, '') : ms.toFixed(0)} ms`;
}

const ordinals = new Intl.PluralRules('en', { type: 'ordinal' });
const ENDINGS: Record<string, string> = { one: 'st', two: 'nd', few: 'rd' };

export function formatOrdinal(value: number): string {
  return `${whole.format(value)}${ENDINGS[ordinals.select(value)] ?? 'th'}`;
}
