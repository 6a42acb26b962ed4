/** Runs a change the user asked for, shows a toast when it succeeds or fails, and refetches what it changed. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { toast } from './toast.tsx';

interface Action<Input, Result> {
  run(input: Input): Promise<Result>;
  /** Omit it where the page itself shows the result. */
  successMessage?: string | ((input: Input) => string);
  /** First part of the query keys to refetch. */
  invalidates: string;
  onSuccess?(result: Result): void;
  /** The caller shows the error, so there is no toast for it. */
  showsError?: boolean;
}

export function useAction<Input = void, Result = unknown>(action: Action<Input, Result>) {
  const { run, successMessage, invalidates, onSuccess, showsError = false } = action;
  const queries = useQueryClient();
  return useMutation({
    mutationFn: run,
    onSuccess: async (result, input) => {
      onSuccess?.(result);
      if (successMessage) toast.success(typeof successMessage === 'string' ? successMessage : successMessage(input));
      await queries.invalidateQueries({ queryKey: [invalidates] });
    },
    onError: (error) => {
      if (!showsError) toast.error(error);
    },
  });
}
