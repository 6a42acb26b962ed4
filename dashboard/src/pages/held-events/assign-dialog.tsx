import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { callApi } from '../../api/client.ts';
import { useHasAccess } from '../../api/current-user.ts';
import { useEnvironments } from '../../api/environment.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { useTell } from '../../ui/toast.tsx';
import type { Assignment } from './assignment.ts';
import { useAssign } from './queries.ts';

interface AssignDialogProps {
  assigning: Assignment | undefined;
  onClose(): void;
  onDone(): void;
}

export function AssignDialog({ assigning, onClose, onDone }: AssignDialogProps) {
  const form = useId();
  const { submit, busy, error, reset } = useSubmit(assigning, () => {
    onClose();
    onDone();
  });
  const close = () => {
    reset();
    onClose();
  };
  return (
    <Dialog
      open={assigning !== undefined}
      title={`Assign ${assigning?.label ?? ''}`}
      onClose={close}
      footer={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button variant="primary" type="submit" form={form} busy={busy}>
            Assign
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} className="space-y-4">
        <Fields suggested={assigning?.suggestedEnvironment} />
        <p className="text-muted">
          It is ingested there as if it had just come, and its functions run. This cannot be undone.
        </p>
        {error && <ErrorAlert error={error} />}
      </form>
    </Dialog>
  );
}

/** An environment there is, or, for those who may, a branch that is made for it. */
function Fields({ suggested }: { suggested: string | undefined }) {
  const mayMake = useHasAccess('admin');
  const environments = useEnvironments().filter(({ archived_at }) => archived_at === null);
  const known = suggested === undefined || environments.some(({ name }) => name === suggested);
  const [chosen, setChosen] = useState<string>();
  const environment = chosen ?? (known ? (suggested ?? environments[0]?.name) : mayMake ? NEW : environments[0]?.name);
  return (
    <>
      <Select
        label="Environment"
        name="environment"
        value={environment ?? ''}
        onChange={({ target }) => setChosen(target.value)}
        hint={known ? undefined : `The request named ${suggested}, which there is not, or not any more.`}
      >
        {environments.map(({ name, kind }) => (
          <option key={name} value={name}>
            {kind === 'branch' ? `${name} (branch)` : name}
          </option>
        ))}
        {mayMake && <option value={NEW}>A new branch environment…</option>}
      </Select>
      {environment === NEW && (
        <TextField
          label="Name of the new branch"
          name="branch"
          required
          maxLength={64}
          autoComplete="off"
          defaultValue={known ? '' : suggested}
          hint="Letters, digits, _ . - and / between them."
        />
      )}
    </>
  );
}

/** No environment can be called so. */
const NEW = '+';

/** Another try, after its events could not be assigned, finds the branch made. */
function ignoreExisting(error: unknown): void {
  if (!isExisting(error)) throw error;
}

function isExisting(error: unknown): boolean {
  return (error as { code?: string } | null)?.code === 'environment_exists';
}

function useSubmit(assigning: Assignment | undefined, done: () => void) {
  const queries = useQueryClient();
  const assign = useAssign();
  const tell = useTell();
  const make = useMutation({
    mutationFn: (name: string) => callApi('/v1/environments', { method: 'POST', body: { name, kind: 'branch' } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['environments'] }),
  });
  const run = async (chosen: string, branch: string) => {
    if (!assigning) return;
    if (chosen === NEW) await make.mutateAsync(branch).catch(ignoreExisting);
    const environment = chosen === NEW ? branch : chosen;
    const count = await assign.mutateAsync({ which: assigning.which, environment });
    tell.done(count === 1 ? `One event went to ${environment}.` : `${count} events went to ${environment}.`);
    done();
  };
  return {
    busy: make.isPending || assign.isPending,
    error: assign.error ?? (isExisting(make.error) ? null : make.error),
    reset() {
      make.reset();
      assign.reset();
    },
    submit(event: FormEvent<HTMLFormElement>) {
      event.preventDefault();
      const fields = new FormData(event.currentTarget);
      // What went wrong is shown by the mutations' own errors.
      run(String(fields.get('environment')), String(fields.get('branch') ?? '').trim()).catch(() => {});
    },
  };
}
