import type { ReactNode } from 'react';
import { CodeBlock } from './code-block.tsx';

interface EmptyStateProps {
  title: string;
  children?: ReactNode;
  /** The line to paste that fills the page. */
  command?: string;
}

/** Nothing is here, and that is no error. Says what would fill it. */
export function EmptyState({ title, children, command: paste }: EmptyStateProps) {
  return (
    <div className="mx-auto max-w-2xl px-4 py-14 text-center">
      <p className="text-lg font-medium">{title}</p>
      {children && <div className="mt-2 text-muted">{children}</div>}
      {paste && (
        <div className="mt-5 text-left">
          <CodeBlock text={paste} />
        </div>
      )}
    </div>
  );
}
