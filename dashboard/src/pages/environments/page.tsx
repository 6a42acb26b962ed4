import { Page } from '../../ui/page.tsx';

export default function EnvironmentsPage() {
  return <Page title="environments">{null}</Page>;
}
