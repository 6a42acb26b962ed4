/** Histograms of runs across Redis and the archive. */
import type { Archive } from '../archive/archive.ts';
import { isArchiveUnavailable } from '../errors.ts';
import { Composed } from '../model/values/composed.ts';
import type { RunHistogram, RunHistogramQuery, RunInterval } from '../store/runs/run-histogram.ts';
import { archiveBorder, type MaybeIncomplete } from './merged-page.ts';

/** Maximum number of ended runs, of each outcome, that are looked for in both. If more wait to be archived, those that the archive has just stored may
 *  count twice. */
const IN_BOTH_MAX = 10_000;

export interface CountedRuns extends MaybeIncomplete {
  intervals: RunInterval[];
  /** Archived runs created before this time are not counted; undefined: all are counted. */
  stoppedAt?: number;
}

export class RunHistogramHistory extends Composed<{ histogram: RunHistogram; archive: Archive }> {
  bounds(...args: Parameters<RunHistogram['bounds']>) {
    return this.deps.histogram.bounds(...args);
  }

  async count(given: RunHistogramQuery): Promise<CountedRuns> {
    const { histogram, archive } = this.deps;
    const query = { ...given, functionIds: histogram.countedFunctions(given.functionIds) };
    const border = archiveBorder(archive, Date.now());
    const [{ intervals }, inRedis] = await Promise.all([
      histogram.count(query),
      histogram.endedBefore(query, border, IN_BOTH_MAX),
    ]);
    try {
      const { counts, since } = await archive.runCounts.count(query, border, inRedis);
      for (const { interval, group, count } of counts) {
        const to = intervals[interval];
        if (to) to[group] += count;
      }
      return since === undefined ? { intervals } : { intervals, stoppedEarly: 'time', stoppedAt: since };
    } catch (error) {
      if (!isArchiveUnavailable(error)) throw error;
      return { intervals, stoppedEarly: 'archive_unavailable', stoppedAt: border };
    }
  }
}
