import type { Webhook } from '../../../api/types.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/page.tsx';
import { Time } from '../../../ui/time.tsx';
import { useWebhookAction } from './use-webhook-action.ts';

export function PauseCard({ webhook: { id, paused_at }, mayWrite }: { webhook: Webhook; mayWrite: boolean }) {
  const door = useWebhookAction(id);
  return (
    <Card title={paused_at ? 'Paused' : 'Pause'}>
      <div className="flex flex-wrap items-center justify-between gap-3 p-4">
        <p className="min-w-0 flex-1 basis-64 text-muted">
          {paused_at ? (
            <>
              Since <Time at={paused_at} />. Its requests are answered 503, on which providers send again, and are kept
              in the log.
            </>
          ) : (
            'While it is paused its requests are answered 503, on which providers send again, and are kept in the log.'
          )}
        </p>
        {paused_at ? (
          <Button
            variant="primary"
            icon="play"
            disabled={!mayWrite}
            busy={door.isPending}
            onClick={() => door.mutate({ deed: 'resume', done: 'The webhook takes requests again.' })}
          >
            Resume
          </Button>
        ) : (
          <Button
            icon="pause"
            disabled={!mayWrite}
            busy={door.isPending}
            onClick={() => door.mutate({ deed: 'pause', done: 'The webhook is paused.' })}
          >
            Pause
          </Button>
        )}
      </div>
    </Card>
  );
}
