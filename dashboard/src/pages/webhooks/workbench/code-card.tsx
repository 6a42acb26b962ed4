import { useMemo, useState } from 'react';
import type { Webhook } from '../../../api/types.ts';
import { useShortcuts } from '../../../lib/use-shortcuts.ts';
import { Button } from '../../../ui/button.tsx';
import { ConfirmButton } from '../../../ui/dialog.tsx';
import { Editor } from '../../../ui/editor.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Card } from '../../../ui/page.tsx';
import { Badge } from '../../../ui/status-badge.tsx';
import type { Completion } from './completions.ts';
import { ConflictDialog } from './conflict-dialog.tsx';
import { DefaultTransformButton } from './default-transform.tsx';
import type { TransformError } from './transform-error.ts';
import { TryButton } from './try-dialog.tsx';
import type { Draft } from './use-draft.ts';

interface CodeCardProps {
  webhook: Webhook;
  draft: Draft;
  completions: readonly Completion[];
  error: TransformError | undefined;
  canWrite: boolean;
}

/** Editor for the transform, with its errors and unsaved changes. */
export function CodeCard({ webhook, draft, completions, error, canWrite }: CodeCardProps) {
  const diagnostics = useMemo(
    () => (error?.line ? [{ line: error.line, column: error.column ?? 1, message: error.message }] : []),
    [error],
  );
  const [message, setMessage] = useState('');
  const save = () => draft.save(message, () => setMessage(''));
  useShortcuts({
    '$mod+s': (event) => {
      event.preventDefault();
      if (canWrite) save();
    },
  });
  return (
    <Card
      title={
        <span className="flex items-center gap-2">
          Transform
          {draft.dirty && (
            <Badge tone="warn" icon="edit">
              unsaved
            </Badge>
          )}
        </span>
      }
      actions={
        canWrite ? (
          <Actions webhook={webhook} draft={draft} onSave={save} />
        ) : (
          <span className="text-xs text-muted">Requires write access</span>
        )
      }
    >
      <div className="p-3">
        {draft.isBehind && (
          <p className="mb-3 rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">
            Another user saved a newer version. Save shows what changed and lets you choose; Revert discards your
            changes and loads it.
          </p>
        )}
        {draft.conflict && <ConflictDialog webhook={webhook} draft={draft} conflict={draft.conflict} />}
        <Editor
          label="Transform"
          language="javascript"
          value={draft.code}
          onChange={draft.edit}
          readOnly={!canWrite}
          height="22rem"
          completions={completions}
          diagnostics={diagnostics}
        />
        {canWrite && draft.dirty && (
          <div className="mt-3">
            <TextField
              label="What changed"
              placeholder="Optional, for the list of versions"
              maxLength={500}
              value={message}
              autoComplete="off"
              onChange={({ target }) => setMessage(target.value)}
              onKeyDown={({ key }) => {
                if (key === 'Enter') save();
              }}
            />
          </div>
        )}
        <p className="mt-2 text-xs text-muted">
          Return an event <code className="font-mono">{'{ name, data, id?, ts? }'}</code>, a list of events, or null for
          none. Header names are canonical, such as <code className="font-mono">X-Github-Event</code>; query and form
          values are lists.
        </p>
      </div>
    </Card>
  );
}

function Actions({ webhook, draft, onSave }: { webhook: Webhook; draft: Draft; onSave(): void }) {
  return (
    <>
      <DefaultTransformButton webhook={webhook} draft={draft} />
      {draft.dirty && (
        <ConfirmButton
          variant="ghost"
          title="Revert to the saved version?"
          text="Your unsaved changes are lost."
          confirmLabel="Revert"
          onConfirm={draft.revert}
        >
          Revert
        </ConfirmButton>
      )}
      <TryButton
        webhook={webhook}
        drafts={{ draft: draft.code }}
        disabled={!draft.dirty}
        saving={draft.saving}
        onSave={onSave}
      />
      <Button
        variant="primary"
        busy={draft.saving}
        disabled={!draft.dirty}
        title={draft.dirty ? 'Save (⌘S)' : 'No unsaved changes'}
        onClick={onSave}
      >
        Save
      </Button>
    </>
  );
}
