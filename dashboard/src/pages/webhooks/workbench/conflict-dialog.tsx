import type { Webhook } from '../../../api/types.ts';
import { useVersion } from '../../../features/webhooks/versions.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { VersionDiff } from '../versions/diff.tsx';
import type { Conflict, Draft } from './use-draft.ts';

/** Another user saved meanwhile: shows the changes, and lets the user choose. */
export function ConflictDialog({ webhook, draft, conflict }: { webhook: Webhook; draft: Draft; conflict: Conflict }) {
  const { base, live } = conflict;
  const version = useVersion(webhook.id, live).data;
  return (
    <Dialog
      open
      wide
      title="Somebody saved meanwhile"
      onClose={draft.dismiss}
      footer={
        <>
          <Button onClick={draft.dismiss}>Keep editing</Button>
          <Button disabled={webhook.version < live} onClick={draft.revert}>
            Discard mine, load theirs
          </Button>
          <Button variant="danger" busy={draft.saving} onClick={draft.overwrite}>
            Save mine over it
          </Button>
        </>
      }
    >
      <div className="space-y-4">
        <p>
          You edited version {base}. {version?.author?.name ?? 'Somebody'} saved version {live} since then
          {version?.message ? `: “${version.message}”` : ''}. Nothing of yours is saved yet. Their version stays in the
          list of versions, whatever you choose.
        </p>
        <div className="rounded-lg border border-line">
          <VersionDiff webhookId={webhook.id} before={base} after={live} />
        </div>
      </div>
    </Dialog>
  );
}
