/** Minutes out of indexes of minutes, evenly spread. With few minutes, all of them: what is added up is then exact. */
import { inPipelines, type Redis } from '../redis/connection.ts';

export interface SampledMinute<Of> {
  of: Of;
  /** Unix milliseconds. */
  minute: number;
  /** Minutes that this one stands for. */
  weight: number;
}

/** @param indexes sorted sets of minutes, and what each is of
 *  @param samples of all indexes together; each has two at least
 *  @returns those of an index in order, its oldest one among them */
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
