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
  /** Of the event that is open; none: closed. */
  id: string | undefined;
  onClose(): void;
  onAssign(assigning: Assignment): void;
}

/** One held event, with all that it carries. */
export function HeldEventDialog({ id, onClose, onAssign }: HeldEventDialogProps) {
  const { data: held, error, isLoading } = useHeldEvent(id);
  const mayWrite = useHasAccess('write');
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
              which={{ id: held.internal_id }}
              what={held.event.name}
              disabled={!mayWrite}
              onDone={onClose}
            >
              Discard
            </DiscardButton>
            <Button
              variant="primary"
              icon="arrow"
              disabled={!mayWrite}
              title={mayWrite ? undefined : 'Assigning needs write access'}
              onClick={() =>
                onAssign({
                  which: { id: held.internal_id },
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
            <DescriptionItem name="Why">
              <Reason held={held} />
            </DescriptionItem>
            <DescriptionItem name="Received">
              <Time at={held.received_at} />
            </DescriptionItem>
            <DescriptionItem name="Event ID">
              <Id id={held.internal_id} />
            </DescriptionItem>
            <DescriptionItem name="Request">
              <Link
                to="/webhooks/$id"
                params={{ id: held.webhook_id }}
                search={(before: object) =>
                  ({ ...before, id: undefined, tab: 'requests', request: held.request_id }) as never
                }
                className="text-accent underline"
              >
                In the webhook’s log
              </Link>
            </DescriptionItem>
            <DescriptionItem name="Deduplication ID">
              {held.event.id ?? <span className="text-muted">none</span>}
            </DescriptionItem>
          </dl>
          <div className="relative rounded-lg border border-line">
            <div className="absolute top-1 right-1">
              <CopyButton label="Copy the data" text={() => stringifyExact(held.event.data, 2)} />
            </div>
            <JsonTree value={held.event.data} label="Data of the event" />
          </div>
        </div>
      )}
    </Dialog>
  );
}
