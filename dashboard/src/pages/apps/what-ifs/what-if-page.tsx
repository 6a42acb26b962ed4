import { getRouteApi, Link } from '@tanstack/react-router';
import { useHasAccess } from '../../../api/current-user.ts';
import { useEnv } from '../../../api/environment.ts';
import type { WhatIf } from '../../../api/types.ts';
import { capitalize } from '../../../lib/capitalize.ts';
import { isOpen, useOperationChange } from '../../../ui/bulk-operations/operation.ts';
import { OperationStatus } from '../../../ui/bulk-operations/operation-status.tsx';
import { ConfirmButton } from '../../../ui/dialog.tsx';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import { Loading } from '../../../ui/loading.tsx';
import { Card, Page } from '../../../ui/page.tsx';
import { useWhatIf } from './queries.ts';
import {
  causeText,
  countsText,
  courseText,
  type Example,
  type FunctionInWhatIf,
  RUNS,
  resultsText,
  SCOPES,
  skipText,
  stopText,
  triggerTexts,
} from './texts.ts';

const route = getRouteApi('/apps/$name/what-ifs/$id');
const LINK = 'text-accent hover:underline';

export default function WhatIfPage() {
  const { name, id } = route.useParams();
  const { data: whatIf, error, refetch } = useWhatIf(id);
  if (whatIf) return <Known whatIf={whatIf} />;
  return (
    <Page title={`What-if of ${name}`}>
      {error ? <ErrorAlert error={error} onRetry={() => void refetch()} /> : <Loading rows={8} />}
    </Page>
  );
}

function Known({ whatIf }: { whatIf: WhatIf }) {
  const { app, url, status, stopped_because: stopped, waiting_because: waits, functions } = whatIf;
  const canWrite = useHasAccess('write');
  return (
    <Page
      title={`What-if of ${app}`}
      description={<span className="font-mono text-xs break-all">{url}</span>}
      actions={canWrite && isOpen(status) && <Cancel id={whatIf.id} />}
    >
      <div className="space-y-6">
        <p role="status" className="flex flex-wrap items-center gap-3">
          <OperationStatus status={status} waits={waits ?? undefined} />
          {countsText(whatIf)}
        </p>
        {stopped && <p className="text-warn">{stopText(stopped)}</p>}
        {functions.map((fn) => (
          <FunctionCard key={fn.id} fn={fn} />
        ))}
        {functions.length === 0 && !isOpen(status) && <p className="text-muted">There were no runs to compare.</p>}
        <Triggers triggers={whatIf.triggers} />
        <Link to="/apps/$name" params={{ name: app }} className={LINK}>
          Back to {app}
        </Link>
      </div>
    </Page>
  );
}

function Cancel({ id }: { id: string }) {
  const env = useEnv();
  const { mutateAsync } = useOperationChange<WhatIf>({ path: `/v1/what-ifs/${id}`, env, invalidates: 'what-ifs' });
  return (
    <ConfirmButton
      icon="close"
      title="Cancel this what-if?"
      text="It compares no more runs. What it has found stays."
      confirmLabel="Cancel what-if"
      onConfirm={() => mutateAsync({ verb: 'cancel' }).catch(() => {})}
    >
      Cancel
    </ConfirmButton>
  );
}

function FunctionCard({ fn }: { fn: FunctionInWhatIf }) {
  const scopes = SCOPES.filter((scope) => fn[scope].checked + fn[scope].skipped > 0);
  return (
    <Card title={fn.id}>
      <div className="space-y-4 p-4">
        {fn.refused && (
          <p className="text-warn">The build ran a step that it was asked to plan, and was not called again.</p>
        )}
        <ul aria-label={`Runs of ${fn.id}`} className="text-sm">
          {scopes.map((scope) => {
            const { skips } = fn[scope];
            const skipped = Object.entries(skips).map(
              ([reason, count]) => `; ${count} not compared: ${skipText(reason)}`,
            );
            return (
              <li key={scope}>
                {capitalize(RUNS[scope])}: {resultsText(fn[scope])}
                {skipped}
              </li>
            );
          })}
        </ul>
        {fn.examples.map((example) => (
          <ExampleOf
            key={`${example.scope} ${example.cause}`}
            example={example}
            count={fn[example.scope].causes[example.cause] ?? 1}
          />
        ))}
      </div>
    </Card>
  );
}

/** How the run continued, and how the candidate would continue it, side by side. */
function ExampleOf({ example, count }: { example: Example; count: number }) {
  const { scope, result, run_id: runId, recorded, candidate } = example;
  return (
    <section aria-label={causeText(example)} className="rounded-lg border border-line p-3 text-sm">
      <p>
        <strong className={result === 'broken' ? 'font-semibold text-bad' : 'font-semibold'}>
          {causeText(example)}
        </strong>{' '}
        · {count.toLocaleString()} {RUNS[scope]}, such as{' '}
        <Link to="/runs/$id" params={{ id: runId }} className="text-accent underline">
          {runId}
        </Link>
      </p>
      <dl className="mt-2 grid grid-cols-1 gap-3 sm:grid-cols-2">
        {(
          [
            ['Recorded', recorded],
            ['This build', candidate],
          ] as const
        ).map(([side, course]) => (
          <div key={side} className="min-w-0">
            <dt className="text-muted">{side}</dt>
            <dd className="font-mono text-xs break-words">{courseText(course) ?? '—'}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Triggers({ triggers }: Pick<WhatIf, 'triggers'>) {
  if (!triggers) return null;
  const { problem, sampled, functions } = triggers;
  const others = functions.map((row) => [row.id, triggerTexts(row)] as const).filter(([, texts]) => texts.length > 0);
  return (
    <Card title="Triggers and limits">
      <div className="space-y-3 p-4 text-sm">
        <p>
          {problem === null
            ? `By a sample of ${sampled.toLocaleString()} events: ${functions.length - others.length} functions as before, ${others.length} not.`
            : `Not compared: ${problem}`}
        </p>
        {others.length > 0 && (
          <ul aria-label="Functions with other triggers or limits" className="space-y-1">
            {others.map(([id, texts]) => (
              <li key={id}>
                <strong className="font-medium">{id}</strong>: {texts.join('; ')}
              </li>
            ))}
          </ul>
        )}
      </div>
    </Card>
  );
}
