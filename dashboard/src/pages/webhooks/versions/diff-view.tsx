import type { WebhookVersionDiff } from '../../../api/types.ts';
import { fieldLabel } from '../../../features/webhooks/versions.ts';
import { stringifyExact } from '../../../lib/exact-json.ts';
import { type DiffLine, diffLines } from './diff-lines.ts';

type Change = WebhookVersionDiff['changes'][number];

/** Changes between two versions: transform and filter by lines, other fields as before and after. */
export default function DiffView({ diff: { with: before, version: after, changes } }: { diff: WebhookVersionDiff }) {
  return (
    <section aria-label={`From version ${before} to version ${after}`}>
      <p className="border-b border-line px-4 py-2 text-sm text-muted">
        {changes.length === 0
          ? `Version ${after} is the same as version ${before}.`
          : `From version ${before} to version ${after}`}
      </p>
      {changes.map((change) => (
        <div key={change.field} className="border-b border-line last:border-b-0">
          <h3 className="px-4 pt-3 pb-1 text-sm font-medium">{fieldLabel(change.field)}</h3>
          {change.diff === null ? <BeforeAndAfter change={change} /> : <Lines patch={change.diff} />}
        </div>
      ))}
    </section>
  );
}

function Lines({ patch }: { patch: string }) {
  return (
    <div className="pb-2 font-mono text-xs leading-6">
      {diffLines(patch).map((line, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line has no identity but its position
        <Line key={at} line={line} />
      ))}
    </div>
  );
}

const LOOKS = {
  same: ['div', ' ', '', ''],
  added: ['ins', '+', 'bg-good-soft no-underline', 'added: '],
  removed: ['del', '−', 'bg-bad-soft no-underline', 'removed: '],
} as const;

/** The sign and the element have the same meaning as the color. */
function Line({ line: { kind, text, before, after } }: { line: DiffLine }) {
  if (kind === 'gap') return <p className="bg-sunken px-4 text-muted">{text}</p>;
  const [Element, sign, look, spoken] = LOOKS[kind];
  return (
    <Element className={`grid grid-cols-[2rem_2rem_1rem_minmax(0,1fr)] px-4 text-text ${look}`}>
      <span aria-hidden="true" className="select-none">
        {before}
      </span>
      <span aria-hidden="true" className="select-none">
        {after}
      </span>
      <span aria-hidden="true" className="select-none">
        {sign}
      </span>
      <span className="break-all whitespace-pre-wrap">
        {spoken && <span className="sr-only">{spoken}</span>}
        {text}
      </span>
    </Element>
  );
}

function BeforeAndAfter({ change: { before, after } }: { change: Change }) {
  return (
    <dl className="grid gap-2 px-4 pb-3 font-mono text-xs sm:grid-cols-2">
      <div className="rounded bg-bad-soft px-2 py-1">
        <dt className="font-sans">− Before</dt>
        <dd className="break-all whitespace-pre-wrap">{valueText(before)}</dd>
      </div>
      <div className="rounded bg-good-soft px-2 py-1">
        <dt className="font-sans">+ After</dt>
        <dd className="break-all whitespace-pre-wrap">{valueText(after)}</dd>
      </div>
    </dl>
  );
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return 'none';
  return typeof value === 'string' ? value : stringifyExact(value, 2);
}
