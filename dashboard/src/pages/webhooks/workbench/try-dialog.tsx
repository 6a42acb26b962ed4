import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Webhook } from '../../../api/types.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import { Loading } from '../../../ui/loading.tsx';
import { ReplayDryRun } from '../requests/replay-dry-run.tsx';
import { type Drafts, tryDrafts } from '../requests/replay-queries.ts';

interface TryButtonProps {
  webhook: Webhook;
  drafts: Drafts;
  /** Disabled: there is nothing to try, or the draft is already saved. */
  disabled?: boolean | undefined;
  saving: boolean;
  onSave(): void;
}

/** Runs drafts on logged requests, next to the saved version. It ingests nothing. */
export function TryButton(props: TryButtonProps) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button icon="search" disabled={props.disabled} onClick={() => setOpen(true)}>
        Try on the last 50 requests
      </Button>
      {open && <TryDialog {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

function TryDialog({ webhook, drafts, disabled, saving, onSave, onClose }: TryButtonProps & { onClose(): void }) {
  const dryRun = useQuery({
    queryKey: ['webhook-draft', webhook.id, webhook.version, drafts],
    queryFn: () => tryDrafts(webhook.id, drafts),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  return (
    <Dialog
      open
      wide
      title="Draft on the last requests"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button
            variant="primary"
            busy={saving}
            disabled={disabled}
            onClick={() => {
              onSave();
              onClose();
            }}
          >
            Save draft
          </Button>
        </>
      }
    >
      {dryRun.isError && <ErrorAlert error={dryRun.error} onRetry={() => void dryRun.refetch()} />}
      {dryRun.isFetching ? <Loading rows={6} /> : dryRun.data && <ReplayDryRun result={dryRun.data} />}
    </Dialog>
  );
}
