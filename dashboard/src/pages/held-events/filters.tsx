import { useNavigate } from '@tanstack/react-router';
import { useWebhooks } from '../../features/webhooks/queries.ts';
import { Select, TextField } from '../../ui/field.tsx';
import type { Filter } from './queries.ts';
import { REASONS } from './reason.tsx';

export function Filters({ filter }: { filter: Filter }) {
  const navigate = useNavigate();
  const { data: webhooks = [] } = useWebhooks();
  const set = (change: Filter) =>
    void navigate({
      to: '/held-events',
      search: (before: object) => ({ ...before, ...change }) as never,
      replace: true,
    });
  return (
    <search className="mb-5 grid max-w-4xl grid-cols-2 gap-3 md:grid-cols-4">
      <TextField
        label="Event name"
        data-page-search
        placeholder="Exact name"
        value={filter.name ?? ''}
        onChange={({ target }) => set({ name: target.value || undefined })}
      />
      <Select
        label="Reason"
        value={filter.reason ?? ''}
        onChange={({ target }) => set({ reason: target.value || undefined })}
      >
        <option value="">Any reason</option>
        {REASONS.map(([id, label]) => (
          <option key={id} value={id}>
            {label}
          </option>
        ))}
      </Select>
      <Select
        label="Webhook"
        value={filter.webhook ?? ''}
        onChange={({ target }) => set({ webhook: target.value || undefined })}
      >
        <option value="">Any webhook</option>
        {webhooks.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </Select>
      <TextField
        label="Requested environment"
        placeholder="Exact name"
        value={filter.selection ?? ''}
        onChange={({ target }) => set({ selection: target.value || undefined })}
      />
    </search>
  );
}
