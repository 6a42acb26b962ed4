import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Run } from '../../api/types.ts';
import { Id } from '../../ui/code-block.tsx';

const LINK = 'text-accent hover:underline';

type Reason = NonNullable<Run['cancel_reason']>;

/** Why a run was cancelled, with a link to what cancelled it. */
export function CancelReason({ reason: { cause, id, by } }: { reason: Reason }) {
  if (cause === 'request' && by) return <Principal by={by} />;
  return TEXTS[cause](id);
}

const KINDS: Record<NonNullable<Reason['by']>['kind'], string> = {
  user: '',
  'api-key': 'API key ',
  'signing-key': '',
  setting: '',
  dev: '',
};

function Principal({ by: { kind, id, name } }: { by: NonNullable<Reason['by']> }) {
  return (
    <span title={`${kind} ${id}`}>
      {KINDS[kind]}
      {name}
    </span>
  );
}

const TEXTS: Record<Reason['cause'], (id: string | null) => ReactNode> = {
  request: () => 'Somebody, here or through the API',
  event: (id) => (
    <>
      Event{' '}
      {id && (
        <Link to="/events/$id" params={{ id }} className={LINK}>
          <Id id={id} maxChars={15} />
        </Link>
      )}
    </>
  ),
  bulk_cancellation: (id) => <>Bulk cancellation {id && <Id id={id} maxChars={15} />}</>,
  start_timeout: () => 'Its start timeout',
  finish_timeout: () => 'Its finish timeout',
  singleton: (id) => (
    <>
      Singleton run{' '}
      {id && (
        <Link to="/runs/$id" params={{ id }} className={LINK}>
          <Id id={id} maxChars={15} />
        </Link>
      )}
    </>
  ),
  pause: () => 'The pause of its function',
  replay: (id) => <>Replay {id && <Id id={id} maxChars={15} />}</>,
};
