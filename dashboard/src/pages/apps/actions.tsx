import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { callApi } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import type { App } from '../../api/types.ts';
import { connects } from '../../features/apps/connects.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { toast } from '../../ui/toast.tsx';
import { useRegister } from './register-dialog.tsx';

export function AppActions({ app: { name, url } }: { app: App }) {
  const env = useEnv();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const register = useRegister();
  const [busy, setBusy] = useState(false);
  const reregister = async () => {
    setBusy(true);
    await register(url).catch((error: Error) => toast.error(error));
    setBusy(false);
  };
  const remove = async () => {
    try {
      await callApi(`/v1/apps/${encodeURIComponent(name)}`, { method: 'DELETE', env });
      toast.success(`${name} removed`);
      await navigate({ to: '/apps' });
      for (const resource of ['apps', 'functions', 'function'])
        void queries.invalidateQueries({ queryKey: [resource, env] });
      queries.removeQueries({ queryKey: ['app', env, name] });
    } catch (error) {
      toast.error(error as Error);
    }
  };
  return (
    <>
      <ConfirmButton
        icon="trash"
        title={`Remove ${name}?`}
        text="Its functions are archived: events no longer trigger them, and runs in progress continue. The app returns when it registers again."
        confirmLabel="Remove"
        onConfirm={remove}
      >
        Remove
      </ConfirmButton>
      {!connects({ url }) && (
        <Button icon="retry" busy={busy} onClick={() => void reregister()}>
          Re-register
        </Button>
      )}
    </>
  );
}
