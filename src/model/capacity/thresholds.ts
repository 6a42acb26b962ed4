/** When the store is too full to take more in, by which of its measures, and when senders are to come again. */
import type { Thresholds } from '../../config.ts';

export const RESOURCES = ['memory', 'ingest', 'runs'] as const;
export type Resource = (typeof RESOURCES)[number];

/** What is there now. */
export interface Load {
  /** undefined: Redis does not tell. */
  usedBytes: number | undefined;
  /** What Redis may use; 0: as much as there is. */
  maxBytes: number;
  /** Jobs that wait. */
  ingestJobs: number;
  runJobs: number;
}

/** A measure that is past its mark, in bytes or jobs. */
export interface ExceededThreshold {
  resource: Resource;
  level: number;
  mark: number;
}

/** Of its mark; a measure that was past it must fall below this before more is let in. Otherwise it would go to and fro. */
const READMITTED_BELOW = 0.95;
const MIN_SECONDS = 2;
const MAX_SECONDS = 30;
/** Of its mark: as full as this, senders stay away longest. Nine tenths of the memory, times this, is about all of it. */
const FULLEST = 1.1;

/** @param before what was past its mark when it was last looked at */
export function exceededThresholds(
  load: Load,
  marks: Thresholds,
  before: readonly ExceededThreshold[],
): ExceededThreshold[] {
  const maxBytes = load.maxBytes || (marks.memoryBytes ?? 0);
  const measures: ExceededThreshold[] = [
    { resource: 'memory', level: load.usedBytes ?? 0, mark: (maxBytes * marks.memoryPercent) / 100 },
    { resource: 'ingest', level: load.ingestJobs, mark: marks.ingestJobs },
    { resource: 'runs', level: load.runJobs, mark: marks.runJobs },
  ];
  return measures.filter(({ resource, level, mark }) => {
    const wasPast = before.some((excess) => excess.resource === resource);
    return mark > 0 && level > (wasPast ? READMITTED_BELOW * mark : mark);
  });
}

/** The further past, the longer: more has to go before there is room. */
export function retryAfterSeconds({ level, mark }: ExceededThreshold): number {
  const depth = (level / mark - 1) / (FULLEST - 1);
  return Math.round(MIN_SECONDS + (MAX_SECONDS - MIN_SECONDS) * Math.min(1, Math.max(0, depth)));
}
