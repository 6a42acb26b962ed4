import type { ReactNode } from 'react';

/** A key type: its purpose, a create button, and the list. */
export function Section({
  description,
  action,
  children,
}: {
  description: ReactNode;
  action?: ReactNode;
  children: ReactNode;
}) {
  return (
    <>
      <div className="mb-4 flex flex-wrap items-start justify-between gap-3">
        <p className="max-w-2xl text-muted">{description}</p>
        {action}
      </div>
      {children}
    </>
  );
}

/** The last characters of a key, to identify it. */
export function KeyHint({ end }: { end: string }) {
  return <span className="font-mono text-xs text-muted">…{end}</span>;
}
