import { useState } from 'react';
import type { Webhook } from '../../../api/types.ts';
import { masked } from '../../../features/webhooks/masked-url.ts';
import { ConfirmButton } from '../../../ui/dialog.tsx';
import { Select } from '../../../ui/field.tsx';
import { Card } from '../../../ui/page.tsx';
import { Time } from '../../../ui/time.tsx';
import { useWebhookAction } from './use-webhook-action.ts';

const GRACE_PERIODS = [
  [0, 'Expire immediately'],
  [3_600, 'One hour'],
  [86_400, 'One day'],
  [604_800, 'One week'],
  [2_592_000, '30 days'],
] as const;
const DAY_SECONDS = 86_400;

/** Rotates the URL. Old URLs work until their grace period ends. */
export function UrlCard({ webhook: { id, former_urls }, canWrite }: { webhook: Webhook; canWrite: boolean }) {
  const [graceSeconds, setGraceSeconds] = useState<number>(DAY_SECONDS);
  const rotation = useWebhookAction(id);
  return (
    <Card title="URL">
      <div className="flex flex-wrap items-center justify-between gap-3 p-4">
        <p className="min-w-0 flex-1 basis-64 text-muted">
          Anyone who knows the URL can send requests. Rotate it if it has leaked.
        </p>
        <ConfirmButton
          icon="retry"
          disabled={!canWrite}
          title="Rotate the URL?"
          confirmLabel="Rotate"
          text={
            <div className="space-y-4">
              <p>
                The webhook gets a new URL. The current one stops working after the grace period. Enter the new URL in
                the provider’s settings before then.
              </p>
              <Select
                label="Grace period of the current URL"
                value={graceSeconds}
                onChange={({ target }) => setGraceSeconds(Number(target.value))}
              >
                {GRACE_PERIODS.map(([seconds, label]) => (
                  <option key={seconds} value={seconds}>
                    {label}
                  </option>
                ))}
              </Select>
            </div>
          }
          onConfirm={() =>
            rotation
              .mutateAsync({
                action: 'rotate',
                body: { keep_old_seconds: graceSeconds },
                successMessage: 'URL rotated',
              })
              .catch(() => {})
          }
        >
          Rotate URL
        </ConfirmButton>
      </div>
      {former_urls.length > 0 && (
        <ul className="space-y-2 border-t border-line p-4">
          {former_urls.map(({ url, until }) => (
            <li key={url} className="flex flex-wrap justify-between gap-x-4 gap-y-1 text-sm">
              <code className="min-w-0 font-mono text-xs break-all text-muted">{masked(url)}</code>
              <span>
                expires <Time at={until} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
