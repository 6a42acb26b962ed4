import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useId, useState } from 'react';
import { callApi } from '../../api/client.ts';
import { useEnv, useEnvironments } from '../../api/environment.ts';
import type { Webhook } from '../../api/types.ts';
import { useInvalidateWebhooks } from '../../features/webhooks/queries.ts';
import { ALL_BRANCHES } from '../../lib/environment-scope.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { TEMPLATES, templateOf } from './templates/templates.ts';

/** Asks for a name, environment and template, then opens the new webhook in the workbench. */
export function CreateWebhookDialog({ open, onClose }: { open: boolean; onClose(): void }) {
  const form = useId();
  const { creation, submit } = useCreateWebhook(onClose);
  return (
    <Dialog
      open={open}
      title="Create webhook"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" type="submit" form={form} busy={creation.isPending}>
            Create
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} className="space-y-4">
        <Fields />
        {creation.isError && <ErrorAlert error={creation.error} />}
      </form>
    </Dialog>
  );
}

function Fields() {
  const env = useEnv();
  const environments = useEnvironments().filter(({ kind, archived_at }) => kind !== 'branch' && archived_at === null);
  const [template, setTemplate] = useState('json');
  const names = [...new Set(['production', ...environments.map(({ name }) => name)])];
  return (
    <>
      <TextField label="Name" name="name" required maxLength={100} autoComplete="off" autoFocus placeholder="GitHub" />
      <Select
        label="Environment"
        name="environment"
        defaultValue={names.includes(env) ? env : ALL_BRANCHES}
        hint="Branch environments share webhooks; each request names its branch."
      >
        {names.map((name) => (
          <option key={name}>{name}</option>
        ))}
        <option value={ALL_BRANCHES}>all branches</option>
      </Select>
      <Select
        label="Template"
        name="template"
        value={template}
        onChange={({ target }) => setTemplate(target.value)}
        hint={templateOf(template)?.hint}
      >
        {TEMPLATES.map(({ id, label }) => (
          <option key={id} value={id}>
            {label}
          </option>
        ))}
      </Select>
    </>
  );
}

function useCreateWebhook(onClose: () => void) {
  const navigate = useNavigate();
  const refresh = useInvalidateWebhooks();
  const creation = useMutation({
    mutationFn: async ({ name, environment, template }: Record<'name' | 'environment' | 'template', string>) => {
      const body = { name, environment, transform: templateOf(template)?.transform };
      return { webhook: (await callApi<Webhook>('/v1/webhooks', { method: 'POST', body })).data, template };
    },
    async onSuccess({ webhook: { id }, template }) {
      await refresh();
      onClose();
      await navigate({
        to: '/webhooks/$id',
        params: { id },
        search: (before) => ({ ...before, sample: template }) as never,
      });
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const read = (name: string) => String(fields.get(name) ?? '');
    creation.mutate({ name: read('name'), environment: read('environment'), template: read('template') });
  };
  return { creation, submit };
}
