import { Page } from '../../ui/page.tsx';

export default function JobsPage() {
  return <Page title="jobs">{null}</Page>;
}
