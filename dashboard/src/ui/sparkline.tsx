const HEIGHT = 20;
const BAR = 4;
const GAP = 1;

interface SparklineProps {
  /** What the bars say, in words. */
  label: string;
  counts: readonly number[];
  /** The part of each count that is bad; undefined: all is. */
  bad?: readonly number[];
  className?: string;
}

/** Counts over time, as bars without axes. */
export function Sparkline({ label, counts, bad = counts, className = '' }: SparklineProps) {
  const most = Math.max(1, ...counts);
  const heightOf = (count: number) => (count === 0 ? 0 : Math.max(2, (count / most) * HEIGHT));
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${counts.length * (BAR + GAP)} ${HEIGHT}`}
      className={`h-5 shrink-0 ${className}`}
      preserveAspectRatio="none"
    >
      <title>{label}</title>
      {counts.map((count, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a bar is a time step
        <g key={i}>
          {count === 0 && <Bar at={i} height={1} className="fill-line-strong" />}
          <Bar at={i} height={heightOf(count)} className="fill-accent" />
          <Bar at={i} height={heightOf(Math.min(bad[i] ?? 0, count))} className="fill-bad" />
        </g>
      ))}
    </svg>
  );
}

function Bar({ at, height, className }: { at: number; height: number; className: string }) {
  if (height === 0) return null;
  return <rect x={at * (BAR + GAP)} y={HEIGHT - height} width={BAR} height={height} className={className} />;
}
