import { useState } from 'react';
import type { Webhook } from '../../../api/types.ts';
import { ConfirmButton } from '../../../ui/dialog.tsx';
import { Select } from '../../../ui/field.tsx';
import { Card } from '../../../ui/page.tsx';
import { Time } from '../../../ui/time.tsx';
import { useWebhookAction } from './use-webhook-action.ts';

const GRACE_PERIODS = [
  [0, 'It ends at once'],
  [3_600, 'One hour'],
  [86_400, 'One day'],
  [604_800, 'One week'],
  [2_592_000, '30 days'],
] as const;
const DAY_SECONDS = 86_400;

/** A new URL, when the present one has become known, and how long the old ones live on. */
export function UrlCard({ webhook: { id, former_urls }, mayWrite }: { webhook: Webhook; mayWrite: boolean }) {
  const [graceSeconds, setGraceSeconds] = useState<number>(DAY_SECONDS);
  const door = useWebhookAction(id);
  return (
    <Card title="URL">
      <div className="flex flex-wrap items-center justify-between gap-3 p-4">
        <p className="min-w-0 flex-1 basis-64 text-muted">
          Whoever knows the URL can send. Give it a new one when it has become known to others.
        </p>
        <ConfirmButton
          icon="again"
          disabled={!mayWrite}
          title="Change the URL?"
          confirmLabel="Change it"
          text={
            <div className="space-y-4">
              <p>
                The webhook gets a new URL, and the present one ends for good after the time you choose here. Put the
                new one into the provider’s settings before that.
              </p>
              <Select
                label="The present URL is taken for"
                value={graceSeconds}
                onChange={({ target }) => setGraceSeconds(Number(target.value))}
              >
                {GRACE_PERIODS.map(([seconds, words]) => (
                  <option key={seconds} value={seconds}>
                    {words}
                  </option>
                ))}
              </Select>
            </div>
          }
          onConfirm={() =>
            door
              .mutateAsync({
                deed: 'rotate',
                body: { keep_old_seconds: graceSeconds },
                done: 'The webhook has a new URL.',
              })
              .catch(() => {})
          }
        >
          Change the URL
        </ConfirmButton>
      </div>
      {former_urls.length > 0 && (
        <ul className="space-y-2 border-t border-line p-4">
          {former_urls.map(({ url, until }) => (
            <li key={url} className="flex flex-wrap justify-between gap-x-4 gap-y-1 text-sm">
              <code className="min-w-0 font-mono text-xs break-all text-muted">{url}</code>
              <span>
                ends <Time at={until} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
