import { useId, useState } from 'react';
import type { LogLine } from '../../../api/types.ts';
import { Icon, type IconName } from '../../../ui/icon.tsx';
import { JsonTree } from '../../../ui/json-tree.tsx';
import { Badge, type Tone } from '../../../ui/status-badge.tsx';
import { absolute, duration } from '../../../ui/time.tsx';

const LEVELS: Record<LogLine['level'], [tone: Tone, icon: IconName]> = {
  debug: ['neutral', 'dot'],
  info: ['busy', 'dot'],
  warn: ['warn', 'warning'],
  error: ['bad', 'close'],
};
const LINES_AT_ONCE = 200;
const LONG_MESSAGE = 500;

interface LogLinesProps {
  label: string;
  lines: readonly LogLine[];
  /** The time from which times are counted, Unix milliseconds. */
  startMs: number;
  /** Names of steps by their hashed IDs, where lines of several are shown. */
  stepNames?: ReadonlyMap<string, string>;
}

/** Lines with their time since the start, level and message; their fields expand. */
export function LogLines({ label, lines, startMs, stepNames }: LogLinesProps) {
  const [shown, setShown] = useState(LINES_AT_ONCE);
  return (
    <>
      <ol aria-label={label} className="divide-y divide-line text-sm">
        {lines.slice(0, shown).map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no IDs, and are only added at the end
          <Line key={index} line={line} startMs={startMs} stepName={nameOf(line, stepNames)} />
        ))}
      </ol>
      {lines.length > shown && (
        <button
          type="button"
          onClick={() => setShown(shown + LINES_AT_ONCE)}
          className="px-4 py-2 text-sm text-accent underline"
        >
          {lines.length - shown} more lines
        </button>
      )}
    </>
  );
}

interface LineProps {
  line: LogLine;
  startMs: number;
  stepName: string | undefined;
}

function Line({ line: { at, level, message, fields, attempt }, startMs, stepName }: LineProps) {
  const [open, setOpen] = useState(false);
  const fieldsId = useId();
  const [tone, icon] = LEVELS[level];
  const count = fields ? Object.keys(fields).length : 0;
  return (
    <li className="px-4 py-1.5">
      <div className="grid grid-cols-[4.5rem_4.5rem_minmax(0,1fr)] items-baseline gap-x-2">
        <time dateTime={at} title={absolute(new Date(at))} className="text-xs text-muted tabular-nums">
          +{duration(Math.max(0, Date.parse(at) - startMs))}
        </time>
        <span>
          <Badge tone={tone} icon={icon}>
            {level}
          </Badge>
        </span>
        <div className="min-w-0">
          <Message text={message} />
          <span className="text-xs text-muted">
            {stepName !== undefined && ` ${stepName}`}
            {attempt > 0 && ` attempt ${attempt + 1}`}
          </span>
          {count > 0 && (
            <button
              type="button"
              aria-expanded={open}
              aria-controls={open ? fieldsId : undefined}
              onClick={() => setOpen(!open)}
              className="ml-2 inline-flex items-center gap-0.5 text-xs text-accent hover:underline"
            >
              <Icon name={open ? 'chevron-down' : 'chevron-right'} />
              {count === 1 ? '1 field' : `${count} fields`}
            </button>
          )}
        </div>
      </div>
      {open && (
        <div id={fieldsId}>
          <JsonTree value={fields} label="Fields" />
        </div>
      )}
    </li>
  );
}

function Message({ text }: { text: string }) {
  const [whole, setWhole] = useState(false);
  const cut = text.length > LONG_MESSAGE && !whole;
  return (
    <span className="font-mono text-xs break-words whitespace-pre-wrap">
      {cut ? text.slice(0, LONG_MESSAGE) : text}
      {cut && (
        <button type="button" onClick={() => setWhole(true)} className="ml-2 text-accent underline">
          … {text.length - LONG_MESSAGE} more characters
        </button>
      )}
    </span>
  );
}

function nameOf({ step_id }: LogLine, names: ReadonlyMap<string, string> | undefined): string | undefined {
  return names && step_id !== null ? (names.get(step_id) ?? step_id.slice(0, 8)) : undefined;
}
