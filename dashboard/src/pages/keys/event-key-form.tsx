import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { callApi, PRODUCTION } from '../../api/client.ts';
import type { EventKey, Limits, NewEventKey } from '../../api/types.ts';
import { TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { useAction } from '../../ui/use-action.ts';
import { AccessListField, toAccessList, toDraft } from './access-list-field.tsx';
import { ScopeSelect } from './scope-select.tsx';

/** Creates or edits an event key.
 *  @param onCreated receives the secret, which the API returns only once */
export function EventKeyForm({
  existing,
  onClose,
  onCreated,
}: {
  /** undefined: creates a key */
  existing?: EventKey;
  onClose(): void;
  onCreated?(created: NewEventKey): void;
}) {
  const [name, setName] = useState(existing?.name ?? '');
  const [environment, setEnvironment] = useState(PRODUCTION);
  const [names, setNames] = useState(() => toDraft(existing?.event_names));
  const [addresses, setAddresses] = useState(() => toDraft(existing?.ip_addresses));
  const [maxBytes, setMaxBytes] = useState(existing?.max_bytes?.toString() ?? '');
  const save = useAction({
    run: async () => {
      const lists = { event_names: toAccessList(names), ip_addresses: toAccessList(addresses) };
      const body = { name, ...lists, max_bytes: maxBytes === '' ? null : Number(maxBytes) };
      if (existing) return callApi<EventKey>(`/v1/event-keys/${existing.id}`, { method: 'PATCH', body });
      const { data } = await callApi<NewEventKey>('/v1/event-keys', { method: 'POST', body: { ...body, environment } });
      onCreated?.(data);
    },
    ...(existing && { successMessage: `${name} saved` }),
    invalidates: 'event-keys',
    onSuccess: onClose,
    showsError: true,
  });
  return (
    <FormDialog
      title={existing ? `Edit ${existing.name}` : 'Create event key'}
      submitLabel={existing ? 'Save' : 'Create key'}
      busy={save.isPending}
      error={save.error}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="The sender that uses it"
        value={name}
        required
        maxLength={100}
        onChange={({ target }) => setName(target.value)}
      />
      {!existing && <ScopeSelect value={environment} onChange={setEnvironment} />}
      <AccessListField
        label="Event names"
        items="events"
        hint="One name per line. A trailing * matches anything: order/*"
        draft={names}
        onChange={setNames}
      />
      <AccessListField
        label="IP addresses"
        items="addresses"
        hint="One address or CIDR range per line: 192.0.2.7, 2001:db8::/32"
        draft={addresses}
        onChange={setAddresses}
      />
      <MaxBytes value={maxBytes} onChange={setMaxBytes} />
    </FormDialog>
  );
}

function MaxBytes({ value, onChange }: { value: string; onChange(text: string): void }) {
  const { data } = useQuery({
    queryKey: ['limits'],
    queryFn: ({ signal }) => callApi<Limits>('/v1/account/limits', { signal }),
  });
  const defaultBytes = data && (data.data.event_max_bytes ?? data.data.default_event_max_bytes);
  return (
    <TextField
      label="Maximum request size (bytes)"
      hint="Default: the limit of the environment, else of the installation"
      type="number"
      min={1}
      max={16 * 1_048_576}
      placeholder={defaultBytes?.toString()}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}
