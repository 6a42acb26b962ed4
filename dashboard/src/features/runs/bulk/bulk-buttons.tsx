import { useState } from 'react';
import { useEnv } from '../../../api/environment.ts';
import { Button } from '../../../ui/button.tsx';
import type { IconName } from '../../../ui/icon.tsx';
import type { RunFilters } from '../use-runs.ts';
import { BulkDialog } from './bulk-dialog.tsx';
import { type BulkKind, filterOf, isPossible, type SelectedRuns } from './requests.ts';
import { ACTION_NAMES } from './texts.ts';

const ACTIONS: [BulkKind, IconName][] = [
  ['resume', 'play'],
  ['retry_now', 'play'],
  ['retry', 'retry'],
  ['cancel', 'close'],
];

interface BulkButtonsProps {
  selected: SelectedRuns;
  /** The filters of the list. */
  filters: RunFilters;
  onStarted(): void;
}

/** What can be done with the selected runs. */
export function BulkButtons({ selected, filters, onStarted }: BulkButtonsProps) {
  const env = useEnv();
  const [action, setAction] = useState<BulkKind>();
  return (
    <>
      {ACTIONS.map(([kind, icon]) => {
        const possible = isPossible(kind, filters);
        return (
          <Button
            key={kind}
            icon={icon}
            variant={kind === 'cancel' ? 'danger' : 'secondary'}
            disabled={!possible}
            title={possible ? undefined : `Not for runs that are ${filters.status}`}
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
          onClose={() => setAction(undefined)}
          onStarted={onStarted}
        />
      )}
    </>
  );
}
