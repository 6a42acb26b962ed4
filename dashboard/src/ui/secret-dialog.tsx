import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { CodeBlock } from './code-block.tsx';
import { Dialog } from './dialog.tsx';
import { Icon } from './icon.tsx';

/** Shows a secret, or a link that acts as one, once. */
export function SecretDialog({
  title,
  secret,
  label,
  warning = 'Copy it now. It is shown only once; the service keeps only its hash.',
  children,
  onClose,
}: {
  title: string;
  /** undefined: closed. */
  secret: string | undefined;
  /** Label of the copy button. */
  label: string;
  warning?: string;
  /** How to use it. */
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
          Done
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

/** A labeled command or setting to copy. */
export function Snippet({ label, text }: { label: string; text: string }) {
  return (
    <div>
      <p className="mb-1 text-sm font-medium">{label}</p>
      <CodeBlock text={text} label={`Copy: ${label}`} />
    </div>
  );
}
