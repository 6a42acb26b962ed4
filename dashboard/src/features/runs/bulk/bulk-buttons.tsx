import { useState } from 'react';
import { useEnv } from '../../../api/environment.ts';
import { Button } from '../../../ui/button.tsx';
import type { IconName } from '../../../ui/icon.tsx';
import type { RunFilters } from '../use-runs.ts';
import { BulkDialog, type VersionField } from './bulk-dialog.tsx';
import { type BulkKind, filterOf, isPossible, type SelectedRuns } from './requests.ts';
import { ACTION_NAMES } from './texts.ts';

const ACTIONS: [BulkKind, IconName][] = [
  ['resume', 'play'],
  ['retry_now', 'play'],
  ['retry', 'retry'],
  ['move', 'replay'],
  ['cancel', 'close'],
];

interface BulkButtonsProps {
  selected: SelectedRuns;
  /** The filters of the list. */
  filters: RunFilters;
  /** undefined: they are of several apps, and cannot move to a version of one. */
  versionField: VersionField | undefined;
  onStarted(): void;
}

/** Buttons for actions on the selected runs. */
export default function BulkButtons({ selected, filters, versionField, onStarted }: BulkButtonsProps) {
  const env = useEnv();
  const [action, setAction] = useState<BulkKind>();
  return (
    <>
      {ACTIONS.map(([kind, icon]) => {
        const refusal = refusalOf(kind, filters, versionField);
        return (
          <Button
            key={kind}
            icon={icon}
            variant={kind === 'cancel' ? 'danger' : 'secondary'}
            disabled={refusal !== undefined}
            title={refusal}
            onClick={() => setAction(kind)}
          >
            {ACTION_NAMES[kind]}…
          </Button>
        );
      })}
      {action && (
        <BulkDialog
          env={env}
          action={action}
          filter={filterOf(selected)}
          versionField={action === 'move' ? versionField : undefined}
          onClose={() => setAction(undefined)}
          onStarted={onStarted}
        />
      )}
    </>
  );
}

/** Why the action is not offered. */
function refusalOf(kind: BulkKind, filters: RunFilters, versionField: VersionField | undefined): string | undefined {
  if (!isPossible(kind, filters)) return `Not for runs that are ${filters.status}`;
  return kind === 'move' && !versionField ? 'For runs of one app: filter by it' : undefined;
}
