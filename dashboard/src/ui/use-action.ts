/** Something that the reader does: it is told when it is done or has failed, and what it changed is read anew. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTell } from './toast.tsx';

interface Deed<Given, Result> {
  act(given: Given): Promise<Result>;
  /** Said when it is done; none: what follows shows it. */
  told?: string | ((given: Given) => string);
  /** First part of the keys of the queries whose answers it changes. */
  changes: string;
  onDone?(result: Result): void;
  /** Told where it was asked for, not at the edge of the page. */
  quietly?: boolean;
}

export function useDeed<Given = void, Result = unknown>(deed: Deed<Given, Result>) {
  const { act, told, changes, onDone, quietly = false } = deed;
  const queries = useQueryClient();
  const tell = useTell();
  return useMutation({
    mutationFn: act,
    onSuccess: async (result, given) => {
      onDone?.(result);
      if (told) tell.done(typeof told === 'string' ? told : told(given));
      await queries.invalidateQueries({ queryKey: [changes] });
    },
    onError: (error) => {
      if (!quietly) tell.failed(error);
    },
  });
}
