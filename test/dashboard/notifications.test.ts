import { expect } from 'chai';
import { noActivity, summaryOf } from '../../dashboard/src/features/notifications/summary.ts';

describe('The text of a notification', () => {
  it('is empty while nothing happens', () => {
    expect(summaryOf(noActivity())).to.equal(undefined);
  });

  it('counts a run once if two live updates report its failure, and names its function', () => {
    const activity = noActivity();
    for (const run of ['run-1', 'run-1']) activity.failedRuns.set(run, 'shop-charge');
    expect(summaryOf(activity)).to.deep.equal({ text: '1 run failed: shop-charge', path: '/runs?status=Failed' });
  });

  it('counts the other functions, and links to the first failure', () => {
    const activity = { ...noActivity(), heldEvents: 3, newIssues: 1 };
    expect(summaryOf(activity)).to.deep.equal({
      text: '1 webhook issue opened, 3 events held',
      path: '/webhook-issues',
    });
    for (const name of ['charge', 'pack', 'charge']) activity.failedRuns.set(`run-${activity.failedRuns.size}`, name);
    expect(summaryOf(activity)?.text).to.equal(
      '3 runs failed: charge and 1 more, 1 webhook issue opened, 3 events held',
    );
  });
});
