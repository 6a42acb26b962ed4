import { useState } from 'react';
import type { WebhookReplayDryRun } from '../../../api/types.ts';
import { EmptyState } from '../../../ui/empty-state.tsx';
import type { IconName } from '../../../ui/icon.tsx';
import { SegmentedControl } from '../../../ui/segmented-control.tsx';
import { Badge, type Tone } from '../../../ui/status-badge.tsx';
import { Time } from '../../../ui/time.tsx';
import { reasonLabel } from '../outcome.tsx';
import { ChangedFields, Side } from './compared-sides.tsx';

type Compared = WebhookReplayDryRun['sample'][number];

const CHANGES: Record<Compared['change'], [Tone, IconName | undefined, string]> = {
  same: ['neutral', undefined, 'Same'],
  changed: ['busy', 'edit', 'Changed'],
  new_event: ['good', 'plus', 'New event'],
  no_event: ['warn', 'warning', 'No event'],
  error: ['bad', 'warning', 'Error'],
};

/** The results of a replay of the newest requests, next to their earlier results. */
export function ReplayDryRun({ result }: { result: WebhookReplayDryRun }) {
  const { total, total_is_exact, sample, stopped_early } = result;
  const [onlyChanges, setOnlyChanges] = useState(false);
  const differing = sample.filter(({ change }) => change !== 'same');
  const shown = onlyChanges ? differing : sample;
  return (
    <section aria-label="Dry run" className="space-y-3">
      <p role="status">
        <strong className="font-semibold">
          {total_is_exact ? '' : 'More than '}
          {total.toLocaleString()} {total === 1 ? 'request' : 'requests'}
        </strong>
        {sample.length > 0 &&
          `. Of the newest ${sample.length}, ${differing.length} ${differing.length === 1 ? 'differs' : 'differ'}.`}
      </p>
      {stopped_early && <p className="text-sm text-warn">The dry run stopped early: these are not all of them.</p>}
      {total === 0 && <EmptyState title="No logged requests match" />}
      {sample.length > 0 && (
        <div className="flex flex-wrap items-center justify-between gap-2">
          <Counts sample={sample} />
          <SegmentedControl
            label="Compared requests"
            options={[
              ['all', 'All'],
              ['changes', 'Changes only'],
            ]}
            value={onlyChanges ? 'changes' : 'all'}
            onChange={(id) => setOnlyChanges(id === 'changes')}
          />
        </div>
      )}
      {sample.length > 0 && shown.length === 0 && <p className="text-sm text-muted">No request differs.</p>}
      <ul aria-label="Compared requests" className="space-y-2">
        {shown.map((compared) => (
          <li key={compared.request_id}>
            <ComparedRequest compared={compared} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Counts({ sample }: { sample: readonly Compared[] }) {
  return (
    <ul aria-label="Counts" className="flex flex-wrap gap-2">
      {Object.entries(CHANGES).map(([change, [tone, icon, text]]) => {
        const count = sample.filter((each) => each.change === change).length;
        return (
          count > 0 && (
            <li key={change}>
              <Badge tone={tone} {...(icon && { icon })}>
                {`${text}: ${count}`}
              </Badge>
            </li>
          )
        );
      })}
    </ul>
  );
}

function ComparedRequest({ compared: { received_at, logged, before, after, change } }: { compared: Compared }) {
  const [tone, icon, text] = CHANGES[change];
  const [open, setOpen] = useState(false);
  return (
    <details className="rounded-lg border border-line" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="flex cursor-pointer flex-wrap items-center gap-3 px-3 py-2 text-sm">
        <Badge tone={tone} {...(icon && { icon })}>
          {text}
        </Badge>
        <span className="min-w-0 flex-1 truncate font-medium">
          {after.event_name ?? after.message ?? (after.reason && reasonLabel(after.reason)) ?? 'No event'}
          {after.event_count > 1 && <span className="text-muted"> and {after.event_count - 1} more</span>}
        </span>
        <span className="text-muted">
          <Time at={received_at} />
        </span>
      </summary>
      {open && (
        <div className="space-y-3 border-t border-line p-3">
          {before && change === 'changed' && <ChangedFields before={before} after={after} />}
          <div className="grid gap-3 md:grid-cols-2">
            {before ? (
              <Side title="Before: saved transform" made={before} />
            ) : (
              <Side
                title="Before: as it was logged"
                made={{ ...logged, events: [], event_count: 0, response: null, message: null }}
                note="The log has the name of the event only."
              />
            )}
            <Side title={before ? 'After: draft' : 'After: saved transform'} made={after} />
          </div>
        </div>
      )}
    </details>
  );
}
