import type { ReactNode } from 'react';
import { CodeBlock } from './code-block.tsx';

interface EmptyStateProps {
  title: string;
  children?: ReactNode;
  /** A command that creates the first item. */
  command?: string;
  /** Shown instead of it: without its secrets. */
  shownCommand?: string;
}

/** Shown where a list is empty: says so, and how to fill it. */
export function EmptyState({ title, children, command, shownCommand }: EmptyStateProps) {
  return (
    <div className="mx-auto max-w-2xl px-4 py-14 text-center">
      <p className="text-lg font-medium">{title}</p>
      {children && <div className="mt-2 text-muted">{children}</div>}
      {command && (
        <div className="mt-5 text-left">
          <CodeBlock text={command} shown={shownCommand} />
        </div>
      )}
    </div>
  );
}
