/** Samples minutes of minute indexes, evenly spread. If there are few, takes all of them, so that sums are exact. */
import { inPipelines, type Redis } from '../redis/connection/connection.ts';

export interface SampledMinute<Of> {
  of: Of;
  /** Unix milliseconds. */
  minute: number;
  /** Number of minutes that this sample represents. */
  weight: number;
}

/** @param indexes sorted sets of minutes, and what each belongs to
 *  @param samples total for all indexes; each gets at least two
 *  @returns the samples of each index in order, including its oldest minute */
export async function sampleMinutes<Of>(
  redis: Redis,
  indexes: readonly { key: string; of: Of }[],
  samples: number,
): Promise<SampledMinute<Of>[]> {
  const lengths = await inPipelines<number>(
    redis,
    indexes.map(({ key }) => ['zcard', key]),
  );
  const perIndex = Math.max(2, Math.floor(samples / indexes.length));
  const wanted = indexes.flatMap(({ key, of }, i) => {
    const length = lengths[i] as number;
    const count = Math.min(length, perIndex);
    return Array.from({ length: count }, (_, at) => {
      return { key, of, rank: Math.floor((at * length) / count), weight: length / count };
    });
  });
  const found = await inPipelines<string[]>(
    redis,
    wanted.map(({ key, rank }) => ['zrange', key, rank, rank]),
  );
  return wanted.flatMap(({ of, weight }, i) => {
    const [minute] = found[i] as string[];
    return minute === undefined ? [] : [{ of, minute: Number(minute), weight }];
  });
}
