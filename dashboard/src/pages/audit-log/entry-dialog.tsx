import type { ReactNode } from 'react';
import type { AuditEntry } from '../../api/types.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { absolute } from '../../ui/time.tsx';
import { ACTOR_KIND } from './columns.tsx';

/** All fields of an audit entry. */
export function EntryDialog({ entry, onClose }: { entry: AuditEntry | undefined; onClose(): void }) {
  return (
    <Dialog open={entry !== undefined} title={entry?.summary ?? ''} onClose={onClose}>
      {entry && (
        <dl className="grid gap-x-6 gap-y-3 sm:grid-cols-[7rem_minmax(0,1fr)]">
          <Line name="Time">{absolute(new Date(entry.at))}</Line>
          <Line name="Actor">
            {entry.who.name} <span className="text-muted">({ACTOR_KIND[entry.who.kind]})</span>
          </Line>
          <Line name="Action">{entry.action}</Line>
          <Line name="Target">
            {entry.target_name && `${entry.target_name} `}
            {entry.target ? <span className="font-mono text-sm">{entry.target}</span> : 'none'}
          </Line>
          <Line name="Environment">{entry.environment ?? 'all environments'}</Line>
          <Line name="IP address">{entry.ip}</Line>
          <Line name="Request ID">{entry.request_id}</Line>
        </dl>
      )}
    </Dialog>
  );
}

function Line({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="contents">
      <dt className="text-sm text-muted">{name}</dt>
      <dd className="break-words max-sm:-mt-3">{children}</dd>
    </div>
  );
}
