/** The list of the keys, which `?` opens. */
import { Group, Kbd, Table } from '@mantine/core';
import { Dialog, useLeave } from './dialog.tsx';

const keys: readonly (readonly [keys: readonly string[], what: string])[] = [
  [['/'], 'filter the table'],
  [[':', 'Ctrl K'], 'jump to a kind, a namespace or an object'],
  [['T'], 'list all that is in trouble, of every kind, with the causes'],
  [['t'], 'show what is in trouble in this table, or everything again'],
  [['o', 'l', 'y', 'e'], 'overview, logs, YAML or edit of the open object'],
  [['?'], 'show these keys'],
  [['↑', '↓'], 'go to another row'],
  [['Page ↑', 'Page ↓', 'Home', 'End'], 'go on by a page, or to the first or the last row'],
  [['Enter'], 'open the row'],
  [['Space'], 'mark the row, to act on several'],
  [['a'], 'go to the actions of the marked rows, or of the open object'],
  [['→', '←'], 'open and close a branch of the application tree'],
  [['Esc'], 'close the details or the panel, or leave the filter'],
];

export function KeyList({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Keys" closeLabel="Close the list of keys" onClose={useLeave(onClose)}>
      <Table
        layout="fixed"
        data={{
          body: keys.map(([names, what]) => [
            <Group key="names" gap={4}>
              {names.map((name) => (
                <Kbd key={name}>{name}</Kbd>
              ))}
            </Group>,
            what,
          ]),
        }}
      />
    </Dialog>
  );
}
