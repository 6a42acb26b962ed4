import { useState } from 'react';
import type { ChartProps } from './chart-props.ts';
import { absolute } from './time.tsx';

interface ChartTextProps extends Pick<ChartProps, 'label' | 'times' | 'format' | 'unfinished' | 'marks'> {
  lines: readonly Pick<ChartProps['lines'][number], 'label' | 'values'>[];
}

/** The content of a chart as text: its last values and marks for screen readers, and all values as a table. */
export function ChartText(props: ChartTextProps) {
  return (
    <>
      <figcaption className="sr-only">{summaryOf(props)}</figcaption>
      <ValueTable {...props} />
    </>
  );
}

export function summaryOf({ lines, format, unfinished = false, marks = [] }: ChartTextProps): string {
  const values = lines.map(({ label, values }) => {
    const last = values.findLast((value) => value !== null) ?? null;
    const isSoFar = unfinished && last !== null && values.at(-1) === last;
    return `${label}: ${last === null ? 'no data' : `${format(last)}${isSoFar ? ' so far' : ''}`}`;
  });
  return [...values, ...marks.map(({ label }) => label)].join('; ');
}

/** All values, newest first; made when it is opened. */
function ValueTable({ label, times, lines, format, unfinished = false }: ChartTextProps) {
  const [isOpen, setOpen] = useState(false);
  if (times.length === 0) return null;
  return (
    <details className="text-xs" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="w-fit cursor-pointer rounded pr-1 pl-1 text-muted hover:text-text">
        Values<span className="sr-only"> of “{label}” as a table</span>
      </summary>
      {isOpen && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also with the keyboard
        <section aria-label={`Values of “${label}”`} className="mt-1 max-h-48 overflow-auto" tabIndex={0}>
          <table className="w-full text-right tabular-nums">
            <thead className="text-muted">
              <tr>
                <th scope="col" className="px-2 py-1 text-left font-medium">
                  From
                </th>
                {lines.map((line) => (
                  <th key={line.label} scope="col" className="px-2 py-1 font-medium">
                    {line.label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {times
                .map((at, i) => (
                  <tr key={at} className="border-t border-line">
                    <th scope="row" title={absolute(new Date(at * 1_000))} className="px-2 py-1 text-left font-normal">
                      {clockFormat.format(at * 1_000)}
                      {unfinished && i === times.length - 1 && ' (so far)'}
                    </th>
                    {lines.map(({ label: name, values }) => (
                      <td key={name} className="px-2 py-1">
                        {values[i] == null ? '–' : format(values[i])}
                      </td>
                    ))}
                  </tr>
                ))
                .toReversed()}
            </tbody>
          </table>
        </section>
      )}
    </details>
  );
}

const clockFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
