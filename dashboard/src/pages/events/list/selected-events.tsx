import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { SelectionBar } from '../../../ui/row-selection/selection-bar.tsx';
import type { RowSelection } from '../../../ui/row-selection/use-row-selection.ts';
import type { EventRow } from './event-pages.ts';
import { ResendSelected } from './resend-selected.tsx';

/** Per request; more are replayed by a filter. */
const EVENTS_MAX = 100;

/** Actions on the selected events. */
export function SelectedEvents({ selection, rows }: { selection: RowSelection; rows: readonly EventRow[] }) {
  const navigate = useNavigate();
  const [resending, setResending] = useState<readonly EventRow[]>();
  const selected = rows.filter(({ internal_id }) => selection.isSelected(internal_id));
  const isTooMany = selection.keys.size > EVENTS_MAX;
  const title = isTooMany ? `Of ${EVENTS_MAX} events at most; "Replay these" takes all of a filter` : undefined;
  const replay = () => {
    const times = selected.map(({ received_at }) => Date.parse(received_at));
    const search = {
      new: true as const,
      ids: selected.map(({ internal_id }) => internal_id).join(','),
      from: new Date(Math.min(...times)).toISOString(),
      to: new Date(Math.max(...times) + 1).toISOString(),
    };
    void navigate({ to: '/replays', search: search as never });
  };
  return (
    <>
      <SelectionBar selection={selection} nouns={['event', 'events']}>
        <Button icon="replay" disabled={isTooMany || selected.length === 0} title={title} onClick={replay}>
          Replay…
        </Button>
        <Button
          icon="retry"
          disabled={isTooMany || selected.length === 0}
          title={title}
          onClick={() => setResending(selected)}
        >
          Resend…
        </Button>
      </SelectionBar>
      {resending && (
        <ResendSelected events={resending} onClose={() => setResending(undefined)} onDone={selection.clear} />
      )}
    </>
  );
}
