import { useState } from 'react';
import { callApi } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import type { Destination, NewDestination } from '../../api/types.ts';
import { NAME_FIELD } from '../../lib/name-field.ts';
import { Select, TextArea, TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { useAction } from '../../ui/use-action.ts';
import { destinationPath, useWebhookNames } from './queries.ts';

interface DestinationFormProps {
  /** undefined: a new one. */
  destination?: Destination | undefined;
  onClose(): void;
  /** @param created with the secret, which the API returns only once */
  onCreated?(created: NewDestination): void;
}

/** Creates or changes a destination. Flow control is set by the API. */
export default function DestinationForm({ destination, onClose, onCreated }: DestinationFormProps) {
  const env = useEnv();
  const webhooks = useWebhookNames();
  const [draft, setDraft] = useState(() => draftOf(destination));
  const set = (changes: Partial<Draft>) => setDraft((before) => ({ ...before, ...changes }));
  const save = useAction({
    run: async () => {
      const body = bodyOf(draft);
      if (destination) return callApi(destinationPath(destination.name), { method: 'PATCH', env, body });
      const created = { ...body, name: draft.name };
      const { data } = await callApi<NewDestination>('/v1/destinations', { method: 'POST', env, body: created });
      return onCreated?.(data);
    },
    invalidates: 'destinations',
    onSuccess: onClose,
    showsError: true,
  });
  return (
    <FormDialog
      title={destination ? `Edit ${destination.name}` : 'Create destination'}
      submitLabel={destination ? 'Save' : 'Create destination'}
      busy={save.isPending}
      error={save.error}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      {!destination && (
        <TextField
          label="Name"
          {...NAME_FIELD}
          value={draft.name}
          onChange={({ target }) => set({ name: target.value })}
        />
      )}
      <TextField
        label="URL"
        type="url"
        placeholder="https://crm.example.com/hooks"
        value={draft.url}
        required
        onChange={({ target }) => set({ url: target.value })}
      />
      <Select label="Gets" value={draft.webhook} onChange={({ target }) => set({ webhook: target.value })}>
        <option value="">events by their names</option>
        {[...webhooks].map(([id, name]) => (
          <option key={id} value={id}>
            all events of the webhook {name}
          </option>
        ))}
      </Select>
      {draft.webhook === '' && (
        <TextField
          label="Events"
          hint="Names, separated by spaces; each may end with /* or .*"
          value={draft.events}
          required
          spellCheck={false}
          onChange={({ target }) => set({ events: target.value })}
        />
      )}
      <TextField
        label="Filter"
        hint="Expression over event; empty: no filter"
        placeholder="event.data.total > 100"
        value={draft.filter}
        spellCheck={false}
        onChange={({ target }) => set({ filter: target.value })}
      />
      <Select
        label="Body"
        value={draft.body}
        onChange={({ target }) => set({ body: target.value as Destination['body'] })}
      >
        <option value="event">the event as JSON</option>
        <option value="data">its data alone</option>
        {draft.webhook !== '' && <option value="request">the original request, byte for byte</option>}
      </Select>
      {draft.body === 'request' && (
        <TextField
          label="Forwarded headers"
          hint="Names, separated by spaces; * for all without credentials"
          value={draft.forwardHeaders}
          spellCheck={false}
          onChange={({ target }) => set({ forwardHeaders: target.value })}
        />
      )}
      <TextArea
        label="Headers"
        hint={headersHint(destination)}
        placeholder="authorization: Bearer …"
        rows={2}
        value={draft.headers}
        spellCheck={false}
        onChange={({ target }) => set({ headers: target.value })}
      />
    </FormDialog>
  );
}

interface Draft {
  name: string;
  url: string;
  /** ID; empty: events by name. */
  webhook: string;
  events: string;
  filter: string;
  body: Destination['body'];
  forwardHeaders: string;
  /** One in each line; empty: unchanged. */
  headers: string;
}

function draftOf(destination: Destination | undefined): Draft {
  return {
    name: destination?.name ?? '',
    url: destination?.url ?? '',
    webhook: destination?.webhook ?? '',
    events: destination?.events?.join(' ') ?? '',
    filter: destination?.filter ?? '',
    body: destination?.body ?? 'event',
    forwardHeaders: destination?.forward_headers.join(' ') ?? '',
    headers: '',
  };
}

function bodyOf({ url, webhook, events, filter, body, forwardHeaders, headers }: Draft): object {
  const source = webhook === '' ? { events: wordsOf(events), webhook: null } : { events: null, webhook };
  const lines = headers.split('\n').filter((line) => line.trim() !== '');
  const given = Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...value] = line.split(':');
      return [name.trim(), value.join(':').trim()];
    }),
  );
  return {
    url,
    ...source,
    filter: filter.trim() || null,
    body: webhook === '' && body === 'request' ? 'event' : body,
    forward_headers: wordsOf(forwardHeaders),
    ...(lines.length > 0 && { headers: given }),
  };
}

function wordsOf(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}

function headersHint(destination: Destination | undefined): string {
  const names = destination?.headers ?? [];
  return names.length > 0
    ? `Set: ${names.join(', ')}. What you write here replaces them; empty leaves them unchanged`
    : 'One in each line. They are stored encrypted, and never shown again';
}
