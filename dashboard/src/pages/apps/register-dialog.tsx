import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { callApi } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import { TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { toast } from '../../ui/toast.tsx';

/** Registers the app at a URL. Errors appear in the dialog. */
export function RegisterDialog({ open, onClose }: { open: boolean; onClose(): void }) {
  const register = useRegister();
  const [url, setUrl] = useState('');
  const [error, setError] = useState<Error>();
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    if (open) setError(undefined);
  }, [open]);
  const submit = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await register(url.trim());
      setUrl('');
      onClose();
    } catch (failure) {
      setError(failure as Error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <FormDialog
      open={open}
      title="Register app"
      submitLabel={busy ? 'Registering…' : 'Register'}
      busy={busy}
      disabled={url.trim() === ''}
      error={error}
      onSubmit={() => void submit()}
      onClose={onClose}
    >
      <TextField
        label="App URL"
        type="url"
        required
        autoFocus
        placeholder="http://127.0.0.1:3000/api/service"
        hint="The URL where the app serves its functions. The service must be able to reach it."
        value={url}
        onChange={({ target }) => setUrl(target.value)}
      />
    </FormDialog>
  );
}

/** @returns a function that registers the app at a URL in the current environment; it throws ApiError */
export function useRegister() {
  const env = useEnv();
  const queries = useQueryClient();
  return async (url: string) => {
    try {
      await callApi('/v1/apps', { method: 'POST', env, body: { url } });
      toast.success('App registered');
    } finally {
      for (const resource of ['apps', 'app', 'functions', 'function'])
        void queries.invalidateQueries({ queryKey: [resource, env] });
    }
  };
}
