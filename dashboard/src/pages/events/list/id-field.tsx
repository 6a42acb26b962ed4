import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { callApi } from '../../../api/client.ts';
import type { StoredEvent } from '../../../api/types.ts';
import { TextField } from '../../../ui/field.tsx';
import { toast } from '../../../ui/toast.tsx';

interface IdFieldProps {
  env: string;
  id: string | undefined;
  onChange(id: string | undefined): void;
}

/** Internal ID or deduplication ID. Opens the event if exactly one matches; otherwise lists the matches. */
export function IdField({ env, id, onChange }: IdFieldProps) {
  const [typed, setTyped] = useState(id ?? '');
  const navigate = useNavigate();
  useEffect(() => setTyped(id ?? ''), [id]);
  const search = async () => {
    const query = typed.trim();
    if (query === '') return onChange(undefined);
    const { data } = await callApi<StoredEvent[]>('/v1/events', { env, query: { id: query, limit: 2 } });
    const [only, ...others] = data;
    if (only && others.length === 0) await navigate({ to: '/events/$id', params: { id: only.internal_id } });
    else onChange(query);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        search().catch(toast.error);
      }}
    >
      <TextField
        label="ID"
        hideLabel
        placeholder="Event or dedup. ID"
        value={typed}
        autoComplete="off"
        spellCheck={false}
        onChange={({ target }) => {
          setTyped(target.value);
          if (target.value === '' && id !== undefined) onChange(undefined);
        }}
      />
    </form>
  );
}
