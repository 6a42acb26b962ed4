import { useMemo } from 'react';
import { useShortcuts } from '../../../lib/use-shortcuts.ts';
import { Button } from '../../../ui/button.tsx';
import { ConfirmButton } from '../../../ui/dialog.tsx';
import { Editor } from '../../../ui/editor.tsx';
import { Card } from '../../../ui/page.tsx';
import { Badge } from '../../../ui/status-badge.tsx';
import type { Completion } from './completions.ts';
import type { TransformError } from './transform-error.ts';
import type { Draft } from './use-draft.ts';

interface CodeCardProps {
  draft: Draft;
  completions: readonly Completion[];
  error: TransformError | undefined;
  canWrite: boolean;
}

/** Editor for the transform, with its errors and unsaved changes. */
export function CodeCard({ draft, completions, error, canWrite }: CodeCardProps) {
  const diagnostics = useMemo(
    () => (error?.line ? [{ line: error.line, column: error.column ?? 1, message: error.message }] : []),
    [error],
  );
  useShortcuts({
    '$mod+s': (event) => {
      event.preventDefault();
      if (canWrite) draft.save();
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
      actions={canWrite ? <Actions draft={draft} /> : <span className="text-xs text-muted">Requires write access</span>}
    >
      <div className="p-3">
        {draft.conflict && (
          <p className="mb-3 rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">
            Another user saved a newer version. Save overwrites it; Revert discards your changes and loads it.
          </p>
        )}
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
        <p className="mt-2 text-xs text-muted">
          Return an event <code className="font-mono">{'{ name, data, id?, ts? }'}</code>, or null for none. Header
          names are canonical, such as <code className="font-mono">X-Github-Event</code>; query and form values are
          lists.
        </p>
      </div>
    </Card>
  );
}

function Actions({ draft }: { draft: Draft }) {
  return (
    <>
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
      <Button
        variant="primary"
        busy={draft.saving}
        disabled={!draft.dirty}
        title={draft.dirty ? 'Save (⌘S)' : 'No unsaved changes'}
        onClick={draft.save}
      >
        Save
      </Button>
    </>
  );
}
