/** Scenarios of edits. */
import { liveQuery } from 'rx-informer';
import { type EditResult, useEdit, useList, useQuery } from 'rx-informer/react';
import { type ConfigMap, configMaps } from 'rx-informer/resources';
import { createRig, distinct, frames, note, until } from './rig.tsx';

/** A list and a query of one object, edited by a third component, once with success and once refused. */
export async function editedTwice() {
  const rig = createRig();
  rig.server.objects.create(configMaps, {
    metadata: { namespace: 'shop', name: 'prices' },
    data: { tea: '3' },
  });
  const seen: string[] = [];
  const results: EditResult<ConfigMap>[] = [];
  const List = () => {
    const { rows } = useList(configMaps);
    return rows.map(({ data }) => `list ${data?.['tea']} `).join();
  };
  const dear = liveQuery({
    from: configMaps,
    where: { path: 'data.tea', gt: 5, as: 'number' } as never,
    select: { tea: 'data.tea' } as never,
  });
  const Dear = () =>
    `dear ${useQuery(dear)
      .rows.map((row) => Object.values(row as object).join())
      .join()} `;
  function Editor() {
    const result = useEdit(configMaps);
    note(results, result);
    return `${result.pending} ${result.error?.message.replace(/.*: /, '') ?? ''}`;
  }
  const observer = new MutationObserver(() => seen.push(rig.text()));
  observer.observe(document.body, { subtree: true, childList: true, characterData: true });
  rig.show(
    [
      <p key="1">
        <List />
      </p>,
      <p key="2">
        <Dear />
      </p>,
      <p key="3">
        <Editor />
      </p>,
    ],
    { isStrict: true },
  );
  await until(() => rig.text() === 'list 3 dear  0 ', rig.text);
  await frames(3);
  seen.length = 0;
  const set = (tea: string) =>
    results.at(-1)?.edit({ namespace: 'shop', name: 'prices' }, (draft) => {
      draft.data = { ...draft.data, tea };
    });
  const delay = rig.server.faults.delay(100, { method: 'PATCH' });
  set('9');
  await until(() => rig.text() === 'list 9 dear 9 1 ', rig.text);
  await until(() => rig.text() === 'list 9 dear 9 0 ', rig.text);
  await frames(5);
  const accepted = distinct(seen);
  seen.length = 0;
  rig.server.faults.failNext({ method: 'PATCH' }, {
    status: 403,
    message: 'quota exceeded',
  } as never);
  set('4');
  await until(() => rig.text() === 'list 4 dear  1 ', rig.text);
  await until(() => rig.text().endsWith('quota exceeded'), rig.text);
  await until(() => rig.text().startsWith('list 9'), rig.text);
  const refused = rig.text();
  results.at(-1)?.dismiss();
  await until(() => rig.text() === 'list 9 dear 9 0 ', rig.text);
  delay.heal();
  observer.disconnect();
  rig.unmount();
  return { accepted, refused };
}
