/** What the colors of bars mean. */
export function ChartLegend({ entries }: { entries: readonly (readonly [label: string, fill: string])[] }) {
  return (
    <ul aria-label="Legend" className="flex gap-3">
      {entries.map(([label, fill]) => (
        <li key={label} className="flex items-center gap-1">
          <svg viewBox="0 0 8 8" className={`size-2 ${fill}`} aria-hidden="true">
            <rect width="8" height="8" />
          </svg>
          {label}
        </li>
      ))}
    </ul>
  );
}
