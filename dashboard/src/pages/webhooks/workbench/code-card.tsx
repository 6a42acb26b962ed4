import { useMemo } from 'react';
import { useKeys } from '../../../lib/use-shortcuts.ts';
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
  fault: TransformError | undefined;
  mayWrite: boolean;
}

/** The transform's code, what is not saved of it, and where it fails. */
export function CodeCard({ draft, completions, fault, mayWrite }: CodeCardProps) {
  const marks = useMemo(
    () => (fault?.line ? [{ line: fault.line, column: fault.column ?? 1, message: fault.text }] : []),
    [fault],
  );
  useKeys({
    'mod+s': (event) => {
      event.preventDefault();
      if (mayWrite) draft.save();
    },
  });
  return (
    <Card
      title={
        <span className="flex items-center gap-2">
          Transform
          {draft.dirty && (
            <Badge tone="warn" icon="edit">
              not saved
            </Badge>
          )}
        </span>
      }
      actions={
        mayWrite ? (
          <Actions draft={draft} />
        ) : (
          <span className="text-xs text-muted">Changing it needs write access</span>
        )
      }
    >
      <div className="p-3">
        {draft.conflict && (
          <p className="mb-3 rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">
            Somebody has saved another version meanwhile. Saving replaces theirs; Revert shows it.
          </p>
        )}
        <Editor
          label="Transform"
          language="javascript"
          value={draft.code}
          onChange={draft.edit}
          readOnly={!mayWrite}
          height="22rem"
          completions={completions}
          diagnostics={marks}
        />
        <p className="mt-2 text-xs text-muted">
          Returns an event <code className="font-mono">{'{ name, data, id?, ts? }'}</code>, or null for none. Headers
          are spelled <code className="font-mono">X-Github-Event</code>; query values and form fields are lists.
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
          variant="quiet"
          title="Revert to what is saved?"
          text="What you have written since is gone then."
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
        title={draft.dirty ? 'Save (⌘S)' : 'There is nothing to save'}
        onClick={draft.save}
      >
        Save
      </Button>
    </>
  );
}
