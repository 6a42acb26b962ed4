import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { callApi, PRODUCTION } from '../../api/client.ts';
import type { EventKey, Limits, NewEventKey } from '../../api/types.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { TextField } from '../../ui/field.tsx';
import { useDeed } from '../../ui/use-action.ts';
import { AccessListField, toAccessList, toDraft } from './access-list-field.tsx';
import { ScopeSelect } from './scope-select.tsx';

/** Makes an event key, or changes one.
 *  @param onMade is given its secret, which is never told again */
export function EventKeyForm({
  before,
  onClose,
  onMade,
}: {
  /** none: a new one */
  before?: EventKey;
  onClose(): void;
  onMade?(made: NewEventKey): void;
}) {
  const form = useId();
  const [name, setName] = useState(before?.name ?? '');
  const [environment, setEnvironment] = useState(PRODUCTION);
  const [names, setNames] = useState(() => toDraft(before?.event_names));
  const [addresses, setAddresses] = useState(() => toDraft(before?.ip_addresses));
  const [maxBytes, setMaxBytes] = useState(before?.max_bytes?.toString() ?? '');
  const save = useDeed({
    act: async () => {
      const lists = { event_names: toAccessList(names), ip_addresses: toAccessList(addresses) };
      const body = { name, ...lists, max_bytes: maxBytes === '' ? null : Number(maxBytes) };
      if (before) return callApi<EventKey>(`/v1/event-keys/${before.id}`, { method: 'PUT', body });
      const { data } = await callApi<NewEventKey>('/v1/event-keys', { method: 'POST', body: { ...body, environment } });
      onMade?.(data);
    },
    ...(before && { told: `${name} is changed` }),
    changes: 'event-keys',
    onDone: onClose,
    quietly: true,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <Dialog
      open
      title={before ? `Change ${before.name}` : 'Make an event key'}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" type="submit" form={form} busy={save.isPending}>
            {before ? 'Save' : 'Make the key'}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} className="space-y-5">
        {save.error && <ErrorAlert error={save.error} />}
        <TextField
          label="Name"
          hint="Who sends with it"
          value={name}
          required
          maxLength={100}
          onChange={({ target }) => setName(target.value)}
        />
        {!before && <ScopeSelect value={environment} onChange={setEnvironment} />}
        <AccessListField
          label="Events it may send"
          things="events"
          hint="One name a line; a * at the end stands for anything: order/*"
          draft={names}
          onChange={setNames}
        />
        <AccessListField
          label="Addresses it may send from"
          things="addresses"
          hint="One address or CIDR range a line: 192.0.2.7, 2001:db8::/32"
          draft={addresses}
          onChange={setAddresses}
        />
        <MaxBytes value={maxBytes} onChange={setMaxBytes} />
      </form>
    </Dialog>
  );
}

function MaxBytes({ value, onChange }: { value: string; onChange(text: string): void }) {
  const { data } = useQuery({
    queryKey: ['limits'],
    queryFn: ({ signal }) => callApi<Limits>('/v1/account/limits', { signal }),
  });
  const wider = data && (data.data.event_max_bytes ?? data.data.default_event_max_bytes);
  return (
    <TextField
      label="Largest request, in bytes"
      hint="Left empty: the limit of the account"
      type="number"
      min={1}
      max={16 * 1_048_576}
      placeholder={wider?.toString()}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}
