/** The duties of bulk operations. */
import { duty } from '../../duties/duty.ts';
import type { Store } from '../../store/store.ts';
import type { BulkRounds } from './bulk-rounds.ts';

export const bulkOperating = duty<{ bulkRounds: BulkRounds }>({
  name: 'bulk-operations',
  about: 'Carries out bulk operations that are due, a portion of each',
  scope: 'process',
  everyMs: 1_000,
  lastRoundMs: Number.POSITIVE_INFINITY,
  rounds:
    ({ bulkRounds }) =>
    ({ signal }) =>
      bulkRounds.round(signal),
  end: ({ bulkRounds }) => bulkRounds.settled(),
});

type AdoptionDeps = Pick<Store, 'earlierOperations' | 'environments'>;

export const adoption = duty<AdoptionDeps>({
  name: 'earlier-operations',
  about: 'Adopts bulk operations of an earlier version',
  scope: 'process',
  everyMs: 10_000,
  lastRoundMs: Number.POSITIVE_INFINITY,
  rounds({ earlierOperations, environments }) {
    let envs = async () => (await environments.all()).map(({ name }) => name);
    return async () => {
      await earlierOperations.adopt(await envs());
      envs = () => earlierOperations.envsInProgress();
    };
  },
});
