/** Decides when the store is too full to accept events, by which resource, and the `Retry-After` for senders. */
import type { Thresholds } from '../../config.ts';

export const RESOURCES = ['memory', 'ingest', 'runs'] as const;
export type Resource = (typeof RESOURCES)[number];

/** Current use. */
export interface Load {
  /** undefined: Redis does not report it. */
  usedBytes: number | undefined;
  /** Memory limit of Redis; 0: none. */
  maxBytes: number;
  /** Waiting jobs. */
  ingestJobs: number;
  runJobs: number;
}

/** A resource above its threshold, in bytes or jobs. */
export interface ExceededThreshold {
  resource: Resource;
  level: number;
  threshold: number;
}

/** Hysteresis: an exceeded resource must fall below this share of its threshold before the service accepts events again. */
const READMIT_BELOW = 0.95;
const MIN_SECONDS = 2;
const MAX_SECONDS = 30;
/** At this multiple of the threshold, `Retry-After` reaches its maximum. For memory, 1.1 × 90 % is nearly all of it. */
const FULL = 1.1;

/** Bytes above which events are rejected; 0: Redis has no limit. */
export function memoryThreshold({ maxBytes }: Pick<Load, 'maxBytes'>, thresholds: Thresholds): number {
  return ((maxBytes || (thresholds.memoryBytes ?? 0)) * thresholds.memoryPercent) / 100;
}

/** @param previous result of the previous check */
export function exceededThresholds(
  load: Load,
  thresholds: Thresholds,
  previous: readonly ExceededThreshold[],
): ExceededThreshold[] {
  const resources: ExceededThreshold[] = [
    { resource: 'memory', level: load.usedBytes ?? 0, threshold: memoryThreshold(load, thresholds) },
    { resource: 'ingest', level: load.ingestJobs, threshold: thresholds.ingestJobs },
    { resource: 'runs', level: load.runJobs, threshold: thresholds.runJobs },
  ];
  return resources.filter(({ resource, level, threshold }) => {
    const wasExceeded = previous.some((excess) => excess.resource === resource);
    return threshold > 0 && level > (wasExceeded ? READMIT_BELOW * threshold : threshold);
  });
}

/** Grows with the excess, because more jobs must finish before there is room. */
export function retryAfterSeconds({ level, threshold }: ExceededThreshold): number {
  const excess = (level / threshold - 1) / (FULL - 1);
  return Math.round(MIN_SECONDS + (MAX_SECONDS - MIN_SECONDS) * Math.min(1, Math.max(0, excess)));
}
