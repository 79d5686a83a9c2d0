/** Tests the dashboard's command line. */
import { expect, test } from 'vitest';
import { readArguments, UsageError } from '../../examples/dashboard/arguments.ts';

test('without arguments, the defaults are the local cluster, or an embedded cluster of a thousand pods', () => {
  expect(readArguments([])).toMatchObject({
    open: false,
    embedded: false,
    objects: 1000,
    rate: 20,
  });
});

test('numeric options are parsed', () => {
  const argv = ['--embedded', '--objects', '10000', '--rate', '500', '--port', '0', '--seed', '7'];
  expect(readArguments(argv)).toMatchObject({
    embedded: true,
    objects: 10_000,
    rate: 500,
    port: 0,
    seed: 7,
  });
});

test('the embedded cluster has all faults by default, and --pods has two names', () => {
  expect(readArguments([])).toMatchObject({ fault: 'mix', explainFaults: false, objects: 1000 });
  const argv = ['--pods', '35000', '--fault', 'crash-loop', '--explain-faults'];
  expect(readArguments(argv)).toMatchObject({
    objects: 35_000,
    fault: 'crash-loop',
    explainFaults: true,
  });
});

test('the namespace to show, edits and stored objects of a real cluster are options', () => {
  expect(readArguments(['--namespace', 'shop', '--allow-edits', '--warm-start'])).toMatchObject({
    namespace: 'shop',
    allowEdits: true,
    warmStart: true,
  });
  expect(readArguments([])).toMatchObject({ allowEdits: false, warmStart: false });
  expect(readArguments([])).not.toHaveProperty('namespace');
});

test.each([
  [['--port', 'http'], /--port/],
  [['--port', '70000'], /--port/],
  [['--objects', '0'], /--objects/],
  [['--pods', '0'], /--pods/],
  [['--pods', '5', '--objects', '5'], /--objects/],
  [['--fault', 'dns'], /--fault/],
  [['--rate', '-5'], /--rate/],
  [['--nonsense'], /--nonsense/],
  [['extra'], /argument/],
  [['--embedded', '--context', 'kind'], /--embedded/],
  [['--kubeconfig'], /--kubeconfig/],
  [['--namespace', 'Shop/../secrets'], /--namespace/],
  [['--namespace', ''], /--namespace/],
])('%j is refused with one sentence', (argv, about) => {
  const refused = () => readArguments(argv);
  expect(refused).toThrow(UsageError);
  expect(refused).toThrow(about);
  expect(refused).not.toThrow(/\n/);
});
