import type { ErrorGroup } from '../../api/types.ts';
import { formatCount } from '../../lib/format.ts';

const HEIGHT = 20;
const BAR = 4;
const GAP = 1;

/** Failures over time, as bars. */
export function Sparkline({ histogram: { counts, step_seconds } }: Pick<ErrorGroup, 'histogram'>) {
  const most = Math.max(1, ...counts);
  const total = counts.reduce((sum, count) => sum + count, 0);
  const hours = Math.round((counts.length * step_seconds) / 3_600);
  const range = hours > 48 ? `${Math.round(hours / 24)} days` : `${hours} hours`;
  return (
    <svg
      role="img"
      aria-label={`${formatCount(total)} in the last ${range}, at most ${formatCount(Math.max(...counts))} in ${step_seconds / 3_600} h`}
      viewBox={`0 0 ${counts.length * (BAR + GAP)} ${HEIGHT}`}
      className="h-5 w-28 shrink-0 text-bad"
      preserveAspectRatio="none"
    >
      {counts.map((count, i) => {
        const height = count === 0 ? 1 : Math.max(2, (count / most) * HEIGHT);
        return (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: a bar is a time step
            key={i}
            x={i * (BAR + GAP)}
            y={HEIGHT - height}
            width={BAR}
            height={height}
            fill="currentColor"
            opacity={count === 0 ? 0.3 : 1}
          />
        );
      })}
    </svg>
  );
}
