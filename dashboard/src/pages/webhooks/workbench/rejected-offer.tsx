import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { callApi } from '../../../api/client.ts';
import { useHasAccess } from '../../../api/current-user.ts';
import type { ListedRequest, Webhook } from '../../../api/types.ts';
import { Button, IconButton } from '../../../ui/button.tsx';
import { ReplayDialog } from '../requests/replay-dialog.tsx';
import type { Draft } from './use-draft.ts';

const LOOKED_AT = 100;
/** Why the code of a webhook rejects a request. */
const REASONS = ['transform_failed', 'filter_failed', 'transform_quarantined'];

/** After a transform is saved, offers to re-run the requests that the transform or its filter had rejected. */
export function RejectedOffer({ webhook, draft }: { webhook: Webhook; draft: Draft }) {
  const { savedAt } = draft;
  const canWrite = useHasAccess('write');
  const [open, setOpen] = useState(false);
  const [dismissed, setDismissed] = useState<number>();
  const { data: rejected } = useQuery({
    queryKey: ['webhook-requests', 'rejected-before', webhook.id, savedAt],
    queryFn: async ({ signal }) => {
      const query = { outcome: 'rejected', received_before: savedAt, limit: LOOKED_AT };
      const { data } = await callApi<ListedRequest[]>(`/v1/webhooks/${webhook.id}/requests`, { signal, query });
      return data.filter(({ reason, rerun_of }) => rerun_of === null && REASONS.includes(reason ?? ''));
    },
    enabled: savedAt !== undefined && canWrite,
  });
  if (!rejected || rejected.length === 0 || dismissed === savedAt) return null;
  const count = `${rejected.length}${rejected.length === LOOKED_AT ? ' or more' : ''}`;
  return (
    <div
      role="status"
      className="flex flex-wrap items-center gap-3 rounded-lg border border-line-strong bg-surface p-3"
    >
      <p className="min-w-0 flex-1">
        {count} {rejected.length === 1 ? 'request was' : 'requests were'} rejected before this version was saved.
      </p>
      <Button icon="replay" onClick={() => setOpen(true)}>
        Re-run rejected requests…
      </Button>
      <IconButton icon="close" label="Dismiss" onClick={() => setDismissed(savedAt)} />
      {open && (
        <ReplayDialog
          webhook={webhook}
          draft={draft}
          given={{ outcome: 'rejected', reasons: REASONS }}
          onClose={() => setOpen(false)}
        />
      )}
    </div>
  );
}
