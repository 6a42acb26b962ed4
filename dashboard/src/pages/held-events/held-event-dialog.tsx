import { Link } from '@tanstack/react-router';
import { useHasAccess } from '../../api/current-user.ts';
import { stringifyExact } from '../../lib/exact-json.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton, Id } from '../../ui/code-block.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { JsonTree } from '../../ui/json-tree.tsx';
import { Loading } from '../../ui/loading.tsx';
import { DescriptionItem } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import type { Assignment } from './assignment.ts';
import { DiscardButton } from './discard-button.tsx';
import { useHeldEvent } from './queries.ts';
import { Reason } from './reason.tsx';

interface HeldEventDialogProps {
  /** undefined: closed. */
  id: string | undefined;
  onClose(): void;
  onAssign(assignment: Assignment): void;
}

/** Details of a held event. */
export function HeldEventDialog({ id, onClose, onAssign }: HeldEventDialogProps) {
  const { data: held, error, isLoading } = useHeldEvent(id);
  const canWrite = useHasAccess('write');
  return (
    <Dialog
      open={id !== undefined}
      wide
      title={held?.event.name ?? 'Held event'}
      onClose={onClose}
      footer={
        held && (
          <>
            <DiscardButton
              selection={{ id: held.internal_id }}
              label={held.event.name}
              disabled={!canWrite}
              onDone={onClose}
            >
              Discard
            </DiscardButton>
            <Button
              variant="primary"
              icon="arrow-right"
              disabled={!canWrite}
              title={canWrite ? undefined : 'Requires write access'}
              onClick={() =>
                onAssign({
                  selection: { id: held.internal_id },
                  label: held.event.name,
                  suggestedEnvironment: held.selection ?? undefined,
                })
              }
            >
              Assign
            </Button>
          </>
        )
      }
    >
      {isLoading && <Loading rows={6} />}
      {error && <ErrorAlert error={error} />}
      {held && (
        <div className="space-y-5">
          <dl className="grid gap-x-8 gap-y-3 sm:grid-cols-2">
            <DescriptionItem term="Reason">
              <Reason held={held} />
            </DescriptionItem>
            <DescriptionItem term="Received">
              <Time at={held.received_at} />
            </DescriptionItem>
            <DescriptionItem term="Event ID">
              <Id id={held.internal_id} />
            </DescriptionItem>
            <DescriptionItem term="Request">
              <Link
                to="/webhooks/$id"
                params={{ id: held.webhook_id }}
                search={(before: object) =>
                  ({ ...before, id: undefined, tab: 'requests', request: held.request_id }) as never
                }
                className="text-accent underline"
              >
                View in request log
              </Link>
            </DescriptionItem>
            <DescriptionItem term="Deduplication ID">
              {held.event.id ?? <span className="text-muted">none</span>}
            </DescriptionItem>
          </dl>
          <div className="relative rounded-lg border border-line">
            <div className="absolute top-1 right-1">
              <CopyButton label="Copy data" text={() => stringifyExact(held.event.data, 2)} />
            </div>
            <JsonTree value={held.event.data} label="Event data" />
          </div>
        </div>
      )}
    </Dialog>
  );
}
