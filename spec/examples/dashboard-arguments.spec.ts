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

test.each([
  [['--port', 'http'], /--port/],
  [['--port', '70000'], /--port/],
  [['--objects', '0'], /--objects/],
  [['--rate', '-5'], /--rate/],
  [['--nonsense'], /--nonsense/],
  [['extra'], /argument/],
  [['--embedded', '--context', 'kind'], /--embedded/],
  [['--kubeconfig'], /--kubeconfig/],
])('%j is refused with one sentence', (argv, about) => {
  const refused = () => readArguments(argv);
  expect(refused).toThrow(UsageError);
  expect(refused).toThrow(about);
  expect(refused).not.toThrow(/\n/);
});
