import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useRouterState } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { callApi } from '../../api/client.ts';
import { useHasAccess } from '../../api/current-user.ts';
import { useEnv } from '../../api/environment.ts';
import type { SavedView } from '../../api/types.ts';
import { parseSearch, stringifySearch } from '../../lib/query-string.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { TextField } from '../../ui/field.tsx';
import { toast } from '../../ui/toast.tsx';

export interface SavedViewsMenuProps {
  list: SavedView['list'];
  /** Columns and density, which are not in the URL otherwise. */
  params: object;
}

/** The saved views of a list, and a form that saves another. */
export default function SavedViewsPanel({ list, params, onClose }: SavedViewsMenuProps & { onClose(): void }) {
  const env = useEnv();
  const queries = useQueryClient();
  const search = useRouterState({ select: ({ location }) => location.search });
  const [name, setName] = useState('');
  const query = stringifySearch({ ...search, ...params, env: undefined, request: undefined }).slice(1);
  const key = ['views', env];
  const views = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => callApi<SavedView[]>('/v1/views', { env, signal }),
  });
  const refresh = () => queries.invalidateQueries({ queryKey: key });
  const save = useMutation({
    mutationFn: () => callApi('/v1/views', { method: 'POST', env, body: { list, name: name.trim(), query } }),
    async onSuccess() {
      setName('');
      await refresh();
      toast.success('View saved');
    },
    onError: toast.error,
  });
  const remove = useMutation({
    mutationFn: (id: string) => callApi(`/v1/views/${id}`, { method: 'DELETE', env }),
    onSuccess: refresh,
    onError: toast.error,
  });
  const own = views.data?.data.filter((view) => view.list === list) ?? [];
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() !== '') save.mutate();
  };
  const canWrite = useHasAccess('write');
  return (
    <>
      {views.error && <ErrorAlert error={views.error} />}
      {views.data && own.length === 0 && <p className="text-muted">No saved views.</p>}
      <ul aria-label="Saved views" className="max-h-64 overflow-auto">
        {own.map((view) => (
          <li key={view.id} className="flex items-center gap-1">
            <Link
              to="."
              search={() => parseSearch(view.query) as never}
              onClick={onClose}
              aria-current={view.query === query ? 'true' : undefined}
              className="min-w-0 flex-1 truncate rounded-md px-2 py-1.5 font-medium hover:bg-sunken aria-current:bg-accent-soft"
            >
              {view.name}
            </Link>
            <IconButton
              icon="trash"
              label={`Delete view ${view.name}`}
              disabled={remove.isPending || !canWrite}
              onClick={() => remove.mutate(view.id)}
            />
          </li>
        ))}
      </ul>
      {canWrite && (
        <form onSubmit={submit} className="mt-3 flex items-end gap-2 border-t border-line pt-3">
          <div className="min-w-0 flex-1">
            <TextField
              label="Save this view as"
              placeholder="Failed today"
              value={name}
              maxLength={64}
              autoComplete="off"
              onChange={({ target }) => setName(target.value)}
            />
          </div>
          <Button type="submit" disabled={name.trim() === ''} busy={save.isPending}>
            Save view
          </Button>
        </form>
      )}
      <p className="mt-2 text-xs text-muted">To share a view, send its URL.</p>
    </>
  );
}
