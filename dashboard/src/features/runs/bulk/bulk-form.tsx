import { useMutation, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { BulkDryRun } from '../../../api/types.ts';
import { totalOf } from '../../../ui/bulk-operations/operation.ts';
import { Button } from '../../../ui/button.tsx';
import { Checkbox } from '../../../ui/checkbox.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Loading } from '../../../ui/loading.tsx';
import { type BulkKind, countFirst, type RerunFrom, startBulk } from './requests.ts';
import { RerunChoice } from './rerun-choice.tsx';
import { ACTION_NAMES, filterLines, notListedText, runs, SKIP_TEXTS } from './texts.ts';
import { trackBulk } from './tracked.ts';

/** More runs than these must be confirmed by typing their number. */
const TYPED_FROM = 1_000;
const FUNCTIONS_SHOWN = 5;

/** A field for a version of the runs' app; '': the active one. */
export type VersionField = (value: string, onChange: (version: string) => void) => ReactNode;

export interface BulkDialogProps {
  env: string;
  action: BulkKind;
  filter: object;
  /** Asks where runs move. */
  versionField?: VersionField | undefined;
  onClose(): void;
  /** It was started. */
  onStarted?(): void;
}

/** Counts the runs first, says what will happen with them and whether it can be undone, and starts the action. */
export default function BulkForm({ env, action, filter: given, versionField, onClose, onStarted }: BulkDialogProps) {
  // The action uses the counted time range: "the last hour" would change with every rendering.
  const [filter] = useState(given);
  const [from, setFrom] = useState<RerunFrom>('start');
  const [includes, setIncludes] = useState(false);
  const [typed, setTyped] = useState('');
  const [version, setVersion] = useState('');
  const request = { action, filter, ...(action === 'move' && { version: version || null }) };
  const counted = useQuery({
    queryKey: ['bulk-dry-run', env, action, filter],
    queryFn: () => countFirst(env, request),
    retry: false,
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
  const start = useMutation({
    mutationFn: () =>
      startBulk(env, { ...request, ...(action === 'retry' && { from, include_already_rerun: includes }) }),
    onSuccess: ({ id }) => {
      trackBulk({ env, id });
      onStarted?.();
      onClose();
    },
  });
  const already = counted.data?.skipped.already_rerun ?? 0;
  const count = counted.data && countOf(counted.data) + (includes ? already : 0);
  const mustType = count !== undefined && count > TYPED_FROM;
  const isConfirmed = count !== undefined && count > 0 && (!mustType || typed.replaceAll(/\D/g, '') === String(count));
  const name = ACTION_NAMES[action];
  return (
    <Dialog
      open
      title={
        count === undefined
          ? `${name}: counting…`
          : `${name}: ${counted.data?.is_exact ? '' : 'at least '}${runs(count)}?`
      }
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{action === 'cancel' ? 'Keep running' : 'Close'}</Button>
          <Button
            variant={action === 'cancel' ? 'danger' : 'primary'}
            icon={action === 'cancel' ? 'close' : 'retry'}
            busy={start.isPending}
            disabled={!isConfirmed}
            onClick={() => start.mutate()}
          >
            {count === undefined ? name : `${name}: ${runs(count)}`}
          </Button>
        </>
      }
    >
      <div className="space-y-4">
        {counted.isPending && <Loading rows={3} />}
        {counted.error && <ErrorAlert error={counted.error} onRetry={() => void counted.refetch()} />}
        {counted.data && <Counted dryRun={counted.data} />}
        {versionField?.(version, setVersion)}
        {already > 0 && (
          <Checkbox checked={includes} onChange={setIncludes}>
            Also re-run the {runs(already)} whose re-run has completed
          </Checkbox>
        )}
        {action === 'retry' && <RerunChoice value={from} onChange={setFrom} />}
        <p className="text-muted">{CONSEQUENCES[action]}</p>
        {mustType && (
          <TextField
            label={`Type ${count} to confirm`}
            value={typed}
            inputMode="numeric"
            autoComplete="off"
            onChange={({ target }) => setTyped(target.value)}
          />
        )}
        {start.error && <ErrorAlert error={start.error} />}
      </div>
    </Dialog>
  );
}

const CONSEQUENCES: Record<BulkKind, ReactNode> = {
  move: 'The next calls of these runs are for the other version, with the results of all steps so far.',
  cancel:
    'This cannot be undone. The functions are not called again and their waits are dropped; a call in progress is not aborted, but its response is ignored. Cancelled runs can be re-run.',
  retry:
    'Each becomes a new run, which calls the app as it is deployed now. You can undo it: that cancels the new runs that have not ended.',
  resume:
    'Paused runs go on where they stopped, with the app as it is deployed now: the step that failed runs again. Runs that are not paused are skipped. This cannot be undone.',
  retry_now:
    'Attempts that wait for their time start at once. Runs that wait for nothing, sleep, or wait for an event are skipped. This cannot be undone.',
};

/** Number of runs that the action does not leave out. */
function countOf({ count, skipped }: BulkDryRun): number {
  return count - totalOf(skipped);
}

function Counted({ dryRun }: { dryRun: BulkDryRun }) {
  const { by_status, by_function, skipped, is_exact, not_listed, count, filter } = dryRun;
  const shown = by_function.slice(0, FUNCTIONS_SHOWN);
  return (
    <section aria-label="What is selected" className="space-y-2">
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1">
        {filterLines(filter).map(([name, value]) => (
          <Line key={name} name={name}>
            {value}
          </Line>
        ))}
        <Line name="Number">
          {count === 0 && 'none: there is nothing to do'}
          {Object.entries(by_status)
            .map(([status, ofStatus]) => `${ofStatus.toLocaleString()} ${status}`)
            .join(', ')}
        </Line>
        {totalOf(skipped) > 0 && (
          <Line name="Left out">
            {Object.entries(skipped)
              .map(([reason, some]) => `${some.toLocaleString()} ${SKIP_TEXTS[reason as keyof typeof SKIP_TEXTS]}`)
              .join('; ')}
          </Line>
        )}
        {shown.length > 0 && (
          <Line name="Functions">
            <ul>
              {shown.map(({ function_id, count: ofFunction }) => (
                <li key={function_id} className="break-words">
                  {function_id}: {ofFunction.toLocaleString()}
                </li>
              ))}
              {by_function.length > shown.length && <li>and {by_function.length - shown.length} more</li>}
            </ul>
          </Line>
        )}
      </dl>
      {not_listed > 0 && <p className="text-sm text-warn">{notListedText(not_listed)}</p>}
      {!is_exact && not_listed === 0 && (
        <p className="text-sm text-warn">It counted for 5 s: there are more, which are acted on as well.</p>
      )}
    </section>
  );
}

function Line({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="contents">
      <dt className="text-sm text-muted">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </div>
  );
}
