/** The quotas of a namespace, with what is used of them. */
import { liveQuery } from 'rx-informer';
import { useQuery } from 'rx-informer/react/worker';
import { resourceQuotas } from 'rx-informer/resources';
import { quotaKind, usageOf } from '../kinds/quotas.ts';
import { Share, StatusBadge } from '../table/cells.tsx';
import classes from './details.module.css';
import { ObjectLink } from './object-link.tsx';
import { Section } from './pairs.tsx';

/** The most quotas that are shown of a namespace. */
const MOST = 200;

export function Quotas({ namespace }: { readonly namespace: string }) {
  const { rows } = useQuery(liveQuery({ from: resourceQuotas, namespace, limit: MOST }));
  return rows.map((quota) => {
    const { name, uid } = quota.metadata;
    const { tone, status } = quotaKind.row(quota as never);
    return (
      <Section key={uid} title={`Quota ${name} of the namespace ${namespace}`}>
        <ul className={classes.lines}>
          {usageOf(quota).map(({ resource, share, text }) => (
            <li key={resource}>
              <StatusBadge tone={share >= 1 ? tone : 'good'} text={share >= 1 ? status : 'Free'} />
              <ObjectLink of={{ kind: quotaKind.id, uid, name, namespace }} text={resource} />
              <Share share={share} text={text} />
            </li>
          ))}
        </ul>
      </Section>
    );
  });
}
