import type { Webhook } from '../../../api/types.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/page.tsx';
import { Time } from '../../../ui/time.tsx';
import { useWebhookAction } from './use-webhook-action.ts';

export function PauseCard({ webhook: { id, paused_at }, canWrite }: { webhook: Webhook; canWrite: boolean }) {
  const change = useWebhookAction(id);
  return (
    <Card title={paused_at ? 'Paused' : 'Pause'}>
      <div className="flex flex-wrap items-center justify-between gap-3 p-4">
        <p className="min-w-0 flex-1 basis-64 text-muted">
          {paused_at ? (
            <>
              Since <Time at={paused_at} />. Requests get a 503 response, so that providers retry, and are logged.
            </>
          ) : (
            'A paused webhook responds with 503, so that providers retry, and logs the requests.'
          )}
        </p>
        {paused_at ? (
          <Button
            variant="primary"
            icon="play"
            disabled={!canWrite}
            busy={change.isPending}
            onClick={() => change.mutate({ action: 'resume', successMessage: 'Webhook resumed' })}
          >
            Resume
          </Button>
        ) : (
          <Button
            icon="pause"
            disabled={!canWrite}
            busy={change.isPending}
            onClick={() => change.mutate({ action: 'pause', successMessage: 'Webhook paused' })}
          >
            Pause
          </Button>
        )}
      </div>
    </Card>
  );
}
