import { useMemo, useState } from 'react';
import type { TransformResult, Webhook } from '../../../api/types.ts';
import { stringifyExact } from '../../../lib/exact-json.ts';
import { CopyButton } from '../../../ui/code-block.tsx';
import { Icon } from '../../../ui/icon.tsx';
import { JsonTree } from '../../../ui/json-tree.tsx';
import { Loading } from '../../../ui/loading.tsx';
import { Card } from '../../../ui/page.tsx';
import { Badge } from '../../../ui/status-badge.tsx';
import { absolute, duration } from '../../../ui/time.tsx';
import { ConsoleOutput } from '../console-output.tsx';
import { CustomResponse } from '../custom-response.tsx';
import type { Sample } from './sample.ts';
import type { TransformError } from './transform-error.ts';
import { type Warning, warningsOf } from './warnings.ts';

interface ResultProps {
  webhook: Webhook;
  sample: Sample;
  preview: { data: TransformResult | undefined; waiting: boolean };
  error: TransformError | undefined;
  canWrite: boolean;
}

/** The resulting event, or the error. */
export function Result({ webhook, sample, preview, error, canWrite }: ResultProps) {
  const { data, waiting } = preview;
  const warnings = useMemo(() => (data ? warningsOf(data, webhook, sample) : []), [data, webhook, sample]);
  const lines = error?.console ?? data?.console ?? [];
  return (
    <Card
      title="Result"
      className="lg:sticky lg:top-4"
      actions={
        <>
          <span className="text-xs text-muted tabular-nums">
            {waiting ? 'running…' : data && !error ? duration(data.duration_ms) : ''}
          </span>
          {data?.event && !error && (
            <CopyButton
              label={data.events.length > 1 ? 'Copy events' : 'Copy event'}
              text={() => stringifyExact(data.events.length > 1 ? data.events : data.event, 2)}
            />
          )}
        </>
      }
    >
      <div aria-live="polite" aria-busy={waiting}>
        {!canWrite && <p className="p-4 text-muted">Running a transform requires write access.</p>}
        {canWrite && !data && !error && <Loading rows={5} />}
        {error && <Failed error={error} />}
        {data && !error && <Succeeded result={data} warnings={warnings} />}
      </div>
      {lines.length > 0 && (
        <div className="border-t border-line p-4">
          <h3 className="mb-2 text-xs font-medium text-muted">Console</h3>
          <ConsoleOutput lines={lines} />
        </div>
      )}
    </Card>
  );
}

function Failed({ error: { title, message, line } }: { error: TransformError }) {
  return (
    <div className="m-4 flex items-start gap-3 rounded-md bg-bad-soft p-4">
      <Icon name="warning" className="mt-0.5 text-bad" />
      <div className="min-w-0">
        <p className="font-medium">
          {title}
          {line !== undefined && <span className="font-normal text-muted"> · line {line}</span>}
        </p>
        <p className="mt-1 text-sm break-words">{message}</p>
      </div>
    </div>
  );
}

function Succeeded({
  result: { event, events, response },
  warnings,
}: {
  result: TransformResult;
  warnings: readonly Warning[];
}) {
  return (
    <>
      {events.length > 1 && <p className="px-4 pt-4 font-medium">{events.length} events</p>}
      {(events.length > 1 ? events : event ? [event] : []).map((one, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they have no identity but their position
        <div key={at} className={at > 0 ? 'border-t border-line-strong' : ''}>
          <Event event={one} />
        </div>
      ))}
      {!event && (
        <div className="p-4">
          <p className="font-medium">No event</p>
          <p className="mt-1 text-muted">
            The transform returned none: the request is ignored
            {response ? '.' : ' and the provider gets a 200 response.'}
          </p>
        </div>
      )}
      {response && (
        <div className="border-t border-line p-4">
          <CustomResponse response={response} />
        </div>
      )}
      {warnings.length > 0 && (
        <ul className="space-y-2 border-t border-line p-4">
          {warnings.map(({ tone, text }) => (
            <li key={text} className="flex items-start gap-2 text-sm">
              <Icon
                name={tone === 'warn' ? 'warning' : 'dot'}
                className={`mt-0.5 ${tone === 'warn' ? 'text-warn' : 'text-muted'}`}
              />
              <span className={tone === 'warn' ? '' : 'text-muted'}>{text}</span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function Event({ event }: { event: NonNullable<TransformResult['event']> }) {
  const [asText, setAsText] = useState(false);
  const { name, data, id, ts } = event;
  return (
    <>
      <dl className="grid grid-cols-[4rem_minmax(0,1fr)] items-baseline gap-x-3 gap-y-2 p-4">
        <dt className="text-xs text-muted">name</dt>
        <dd>
          <Badge tone="good" icon="zap">
            {name}
          </Badge>
        </dd>
        <dt className="text-xs text-muted">id</dt>
        <dd className="font-mono text-xs break-all">{id ?? <span className="font-sans text-muted">none</span>}</dd>
        <dt className="text-xs text-muted">ts</dt>
        <dd className="text-sm">
          {ts === undefined ? <span className="text-muted">time of receipt</span> : absolute(new Date(ts))}
        </dd>
      </dl>
      <div className="flex items-center justify-between border-t border-line px-4 pt-3">
        <h3 className="text-xs font-medium text-muted">data</h3>
        <button type="button" className="text-xs text-accent underline" onClick={() => setAsText(!asText)}>
          {asText ? 'Show as tree' : 'Show as text'}
        </button>
      </div>
      <div className="max-h-[32rem] overflow-y-auto pb-2">
        {asText ? (
          <pre
            // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
            tabIndex={0}
            className="overflow-x-auto p-4 pt-2 font-mono text-xs leading-6"
          >
            {stringifyExact(data, 2)}
          </pre>
        ) : (
          <JsonTree value={data} label="Event data" />
        )}
      </div>
    </>
  );
}
