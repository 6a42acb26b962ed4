import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { CodeBlock } from './code-block.tsx';
import { Dialog } from './dialog.tsx';
import { Icon } from './icon.tsx';

/** A secret, or a link that is as good as one, which the service tells this once. */
export function SecretDialog({
  title,
  secret,
  label,
  warning = 'Copy it now: it is shown this once, and the service keeps only its hash.',
  children,
  onClose,
}: {
  title: string;
  /** undefined: nothing to show. */
  secret: string | undefined;
  /** Of the button that copies it. */
  label: string;
  warning?: string;
  /** What to do with it. */
  children?: ReactNode;
  onClose(): void;
}) {
  return (
    <Dialog
      open={secret !== undefined}
      title={title}
      onClose={onClose}
      footer={
        <Button variant="primary" onClick={onClose}>
          I have copied it
        </Button>
      }
    >
      <CodeBlock text={secret ?? ''} label={label} />
      <p className="mt-3 flex items-start gap-2 text-sm text-warn">
        <Icon name="warning" className="mt-0.5" />
        {warning}
      </p>
      {children && <div className="mt-5 space-y-3">{children}</div>}
    </Dialog>
  );
}

/** Where a secret goes: a line to paste, under what it is. */
export function Snippet({ what, line }: { what: string; line: string }) {
  return (
    <div>
      <p className="mb-1 text-sm font-medium">{what}</p>
      <CodeBlock text={line} label={`Copy: ${what}`} />
    </div>
  );
}
