/** Latency histogram with exponential buckets: recording is an increment, and quantiles are accurate to within 10 %. */

/** Upper bound of the first bucket. */
const FIRST_MS = 0.25;
const PER_DOUBLING = 4;
/** The last bucket holds everything longer than two hours. */
export const BUCKETS = 100;

/** Bucket i holds values above the bound of bucket i-1, up to its own bound. */
export function bucketOf(ms: number): number {
  if (ms <= FIRST_MS) return 0;
  return Math.min(BUCKETS - 1, Math.ceil(Math.log2(ms / FIRST_MS) * PER_DOUBLING));
}

/** @param counts by bucket
 *  @param share from 0 to 1: 0.95 for the 95th percentile
 *  @returns milliseconds; undefined when nothing was counted */
export function quantile(counts: readonly number[], share: number): number | undefined {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return undefined;
  const rank = share * total;
  let before = 0;
  for (const [bucket, count] of counts.entries()) {
    if (count > 0 && before + count >= rank) return interpolate(bucket, (rank - before) / count);
    before += count;
  }
  return boundOf(counts.length - 1);
}

/** Assumes that values are spread evenly (logarithmically) within a bucket. */
function interpolate(bucket: number, share: number): number {
  if (bucket === 0) return FIRST_MS * share;
  const lower = boundOf(bucket - 1);
  return lower * (boundOf(bucket) / lower) ** share;
}

function boundOf(bucket: number): number {
  return FIRST_MS * 2 ** (bucket / PER_DOUBLING);
}
