import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { ask, PRODUCTION } from '../../api/client.ts';
import type { EventKey, Limits, NewEventKey } from '../../api/types.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Problem } from '../../ui/error-alert.tsx';
import { TextField } from '../../ui/field.tsx';
import { useDeed } from '../../ui/use-action.ts';
import { draftOf, ListField, listOf } from './access-list-field.tsx';
import { OwnerSelect } from './scope-select.tsx';

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
  const [names, setNames] = useState(() => draftOf(before?.event_names));
  const [addresses, setAddresses] = useState(() => draftOf(before?.ip_addresses));
  const [maxBytes, setMaxBytes] = useState(before?.max_bytes?.toString() ?? '');
  const save = useDeed({
    act: async () => {
      const lists = { event_names: listOf(names), ip_addresses: listOf(addresses) };
      const body = { name, ...lists, max_bytes: maxBytes === '' ? null : Number(maxBytes) };
      if (before) return ask<EventKey>(`/v1/event-keys/${before.id}`, { method: 'PUT', body });
      const { data } = await ask<NewEventKey>('/v1/event-keys', { method: 'POST', body: { ...body, environment } });
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
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form={form} busy={save.isPending}>
            {before ? 'Save' : 'Make the key'}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} className="space-y-5">
        {save.error && <Problem error={save.error} />}
        <TextField
          label="Name"
          hint="Who sends with it"
          value={name}
          required
          maxLength={100}
          onChange={({ target }) => setName(target.value)}
        />
        {!before && <OwnerSelect value={environment} onChange={setEnvironment} />}
        <ListField
          label="Events it may send"
          things="events"
          hint="One name a line; a * at the end stands for anything: order/*"
          draft={names}
          onChange={setNames}
        />
        <ListField
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
    queryFn: ({ signal }) => ask<Limits>('/v1/account/limits', { signal }),
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
