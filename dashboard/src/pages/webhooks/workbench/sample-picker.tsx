import type { ListedRequest, Webhook } from '../../../api/types.ts';
import { useProviders } from '../../../features/webhooks/providers.ts';
import { useRequests } from '../../../features/webhooks/queries.ts';
import { Button } from '../../../ui/button.tsx';
import { Select } from '../../../ui/field.tsx';
import { relative, useNow } from '../../../ui/time.tsx';
import { PLAIN } from './provider-sample.ts';
import type { SampleState } from './use-sample.ts';

const MAX_REQUESTS = 50;
const EDITED = 'edited';
const PASTED = 'pasted';

/** Selects a recent request or the sample of a provider. */
export function SamplePicker({ webhook, sampleState }: { webhook: Webhook; sampleState: SampleState }) {
  const { origin, edited, newRequestId, select } = sampleState;
  const now = useNow();
  const { rows: requests = [] } = useRequests(webhook.id);
  const options = requests.filter(({ body_bytes }) => body_bytes !== null).slice(0, MAX_REQUESTS);
  const providers = useProviders().data ?? [];
  const listed = origin.id === PLAIN || [...options, ...providers].some(({ id }) => id === origin.id);
  return (
    <div className="flex flex-wrap items-end gap-y-2">
      <div className="min-w-0 flex-1 basis-64">
        <Select
          label="Sample"
          hideLabel
          value={edited ? EDITED : origin.kind === 'pasted' ? PASTED : origin.id}
          onChange={({ target }) => select(target.value)}
        >
          {edited && <option value={EDITED}>Edited (not saved)</option>}
          {origin.kind === 'pasted' && <option value={PASTED}>Pasted (not saved)</option>}
          {!listed && origin.kind !== 'pasted' && (
            <option value={origin.id}>
              {origin.kind === 'request' ? 'Request' : 'Sample'} {origin.id}
            </option>
          )}
          {options.length > 0 && (
            <optgroup label="Recent requests">
              {options.map((request) => (
                <option key={request.id} value={request.id}>
                  {requestLabel(request, now)}
                </option>
              ))}
            </optgroup>
          )}
          <optgroup label="Samples of providers">
            <option value={PLAIN}>Plain JSON</option>
            {providers.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </optgroup>
        </Select>
      </div>
      <span role="status">
        {newRequestId && (
          <Button icon="zap" className="ml-2" onClick={() => select(newRequestId)}>
            Use new request
          </Button>
        )}
      </span>
    </div>
  );
}

function requestLabel({ received_at, outcome, event_name, status }: ListedRequest, now: number): string {
  const what = event_name ?? (outcome === 'rejected' ? `status ${status}` : '');
  return [relative(Date.parse(received_at) - now), outcome, what].filter(Boolean).join(' · ');
}
