import type { ListedRequest, Webhook } from '../../../api/types.ts';
import { useRequests } from '../../../features/webhooks/queries.ts';
import { Button } from '../../../ui/button.tsx';
import { Select } from '../../../ui/field.tsx';
import { relative, useNow } from '../../../ui/time.tsx';
import { TEMPLATES } from '../templates/templates.ts';
import type { SampleState } from './use-sample.ts';

const MAX_REQUESTS = 50;
const EDITED = 'edited';
const PASTED = 'pasted';

/** The last real requests, and the samples of the templates. */
export function SamplePicker({ webhook, inUse }: { webhook: Webhook; inUse: SampleState }) {
  const { origin, edited, newRequestId: arrived, select: choose } = inUse;
  const now = useNow();
  const requests = (useRequests(webhook.id).data?.pages ?? []).flatMap(({ data }) => data);
  const offered = requests.filter(({ body_bytes }) => body_bytes !== null).slice(0, MAX_REQUESTS);
  const listed = origin.kind !== 'request' || offered.some(({ id }) => id === origin.id);
  return (
    <div className="flex flex-wrap items-end gap-y-2">
      <div className="min-w-0 flex-1 basis-64">
        <Select
          label="Sample"
          hideLabel
          value={edited ? EDITED : origin.kind === 'pasted' ? PASTED : origin.id}
          onChange={({ target }) => choose(target.value)}
        >
          {edited && <option value={EDITED}>Edited here, not kept</option>}
          {origin.kind === 'pasted' && <option value={PASTED}>Pasted, not kept</option>}
          {!listed && <option value={origin.id}>Request {origin.id}</option>}
          {offered.length > 0 && (
            <optgroup label="Last requests">
              {offered.map((request) => (
                <option key={request.id} value={request.id}>
                  {requestLabel(request, now)}
                </option>
              ))}
            </optgroup>
          )}
          <optgroup label="As providers send them">
            {TEMPLATES.map(({ id, label }) => (
              <option key={id} value={id}>
                {label}
              </option>
            ))}
          </optgroup>
        </Select>
      </div>
      <span role="status">
        {arrived && (
          <Button icon="bolt" className="ml-2" onClick={() => choose(arrived)}>
            A request came in: use it
          </Button>
        )}
      </span>
    </div>
  );
}

function requestLabel({ received_at, outcome, event_name, status }: ListedRequest, now: number): string {
  const what = event_name ?? (outcome === 'rejected' ? `answered ${status}` : '');
  return [relative(Date.parse(received_at) - now), outcome, what].filter(Boolean).join(' · ');
}
