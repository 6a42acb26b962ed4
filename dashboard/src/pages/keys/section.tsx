import type { ReactNode } from 'react';

/** What a kind of key is for, and the button that makes one, above their list. */
export function Section({ lead, action, children }: { lead: ReactNode; action?: ReactNode; children: ReactNode }) {
  return (
    <>
      <div className="mb-4 flex flex-wrap items-start justify-between gap-3">
        <p className="max-w-2xl text-muted">{lead}</p>
        {action}
      </div>
      {children}
    </>
  );
}

/** A key's end, by which to tell it from others. */
export function KeyHint({ end }: { end: string }) {
  return <span className="font-mono text-xs text-muted">…{end}</span>;
}
