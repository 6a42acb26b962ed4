import { Link } from '@tanstack/react-router';
import type { ListedHeldEvent } from '../../api/types.ts';
import { stringifyExact } from '../../lib/exact-json.ts';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { Time } from '../../ui/time.tsx';
import type { Assignment } from './assignment.ts';
import { Reason, reasonLabel } from './reason.tsx';

/** More than fits a line. */
const PAYLOAD_CHARS = 200;

/** @param webhooks names by ID; deleted webhooks are missing */
export function columnsOf(
  webhooks: ReadonlyMap<string, string>,
  canWrite: boolean,
  onOpen: (id: string) => void,
  onAssign: (assignment: Assignment) => void,
): Column<ListedHeldEvent>[] {
  return [
    {
      id: 'event',
      header: 'Event',
      width: 'minmax(6rem, 2fr)',
      cell: (held) => (
        <>
          <button
            type="button"
            onClick={() => onOpen(held.internal_id)}
            className="block max-w-full truncate text-left font-medium hover:underline"
          >
            {held.event.name}
          </button>
          <span className="block truncate text-xs text-muted md:hidden">{reasonLabel(held)}</span>
        </>
      ),
    },
    {
      id: 'payload',
      header: 'Payload',
      width: 'minmax(8rem, 3fr)',
      hideOnMobile: true,
      cell: ({ event }) => (
        <span className="block truncate font-mono text-xs text-muted">
          {stringifyExact(event.data).slice(0, PAYLOAD_CHARS)}
        </span>
      ),
    },
    {
      id: 'reason',
      header: 'Reason',
      width: 'minmax(11rem, 2fr)',
      hideOnMobile: true,
      cell: (held) => <Reason held={held} />,
    },
    {
      id: 'webhook',
      header: 'Webhook',
      width: 'minmax(6rem, 1fr)',
      hideOnMobile: true,
      cell: ({ webhook_id }) => {
        const name = webhooks.get(webhook_id);
        if (!name) return <span className="text-muted">deleted</span>;
        return (
          <Link to="/webhooks/$id" params={{ id: webhook_id }} className="block truncate hover:underline">
            {name}
          </Link>
        );
      },
    },
    {
      id: 'at',
      header: 'Received',
      width: '5.5rem',
      align: 'right',
      cell: ({ received_at }) => <Time at={received_at} />,
    },
    {
      id: 'assign',
      header: '',
      width: '5.5rem',
      align: 'right',
      cell: ({ internal_id, event, selection }) => (
        <Button
          disabled={!canWrite}
          title={canWrite ? undefined : 'Requires write access'}
          onClick={() =>
            onAssign({
              selection: { id: internal_id },
              label: event.name,
              suggestedEnvironment: selection ?? undefined,
            })
          }
        >
          Assign
        </Button>
      ),
    },
  ];
}
