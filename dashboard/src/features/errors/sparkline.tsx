import type { ErrorGroup } from '../../api/types.ts';
import { formatCount } from '../../lib/format.ts';
import { Sparkline } from '../../ui/sparkline.tsx';

/** Failures over time, as bars. */
export function ErrorSparkline({ histogram: { counts, step_seconds } }: Pick<ErrorGroup, 'histogram'>) {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const hours = Math.round((counts.length * step_seconds) / 3_600);
  const range = hours > 48 ? `${Math.round(hours / 24)} days` : `${hours} hours`;
  const label = `${formatCount(total)} in the last ${range}, at most ${formatCount(Math.max(...counts))} in ${step_seconds / 3_600} h`;
  return <Sparkline label={label} counts={counts} className="w-28" />;
}
