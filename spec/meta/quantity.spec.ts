/** Quantities, and what a pod requests. The tables are those of apimachinery and component-helpers. */

import { type ParsedQuantity, parseQuantity, podRequests, type RequestingPod } from 'rx-informer';
import type { Pod } from 'rx-informer/resources';
import { describe, expect, it } from 'vitest';
import * as fc from '../support/fast-check.ts';
import CASES from './pod-requests.cases.json' with { type: 'json' };

// apimachinery/pkg/api/resource/quantity_test.go: TestQuantityParse. Amounts are in units of 1e-9.
const PARSED: readonly (readonly [string, bigint])[] = [
  ['0', 0n],
  ['0n', 0n],
  ['0u', 0n],
  ['0m', 0n],
  ['0Ki', 0n],
  ['0k', 0n],
  ['0Mi', 0n],
  ['0M', 0n],
  ['0Gi', 0n],
  ['0G', 0n],
  ['0Ti', 0n],
  ['0T', 0n],
  ['1', 1_000_000_000n],
  ['1Ki', 1_024_000_000_000n],
  ['8Ki', 8_192_000_000_000n],
  ['7Mi', 7_340_032_000_000_000n],
  ['6Gi', 6_442_450_944_000_000_000n],
  ['5Ti', 5_497_558_138_880_000_000_000n],
  ['4Pi', 4_503_599_627_370_496_000_000_000n],
  ['3Ei', 3_458_764_513_820_540_928_000_000_000n],
  ['10Ti', 10_995_116_277_760_000_000_000n],
  ['100Ti', 109_951_162_777_600_000_000_000n],
  ['5n', 5n],
  ['4u', 4_000n],
  ['3m', 3_000_000n],
  ['9', 9_000_000_000n],
  ['8k', 8_000_000_000_000n],
  ['50k', 50_000_000_000_000n],
  ['7M', 7_000_000_000_000_000n],
  ['6G', 6_000_000_000_000_000_000n],
  ['5T', 5_000_000_000_000_000_000_000n],
  ['40T', 40_000_000_000_000_000_000_000n],
  ['300T', 300_000_000_000_000_000_000_000n],
  ['2P', 2_000_000_000_000_000_000_000_000n],
  ['1E', 1_000_000_000_000_000_000_000_000_000n],
  ['1E-3', 1_000_000n],
  ['1e3', 1_000_000_000_000n],
  ['1E6', 1_000_000_000_000_000n],
  ['1e9', 1_000_000_000_000_000_000n],
  ['1E12', 1_000_000_000_000_000_000_000n],
  ['1e15', 1_000_000_000_000_000_000_000_000n],
  ['1E18', 1_000_000_000_000_000_000_000_000_000n],
  ['1e14', 100_000_000_000_000_000_000_000n],
  ['1e13', 10_000_000_000_000_000_000_000n],
  ['100.035k', 100_035_000_000_000n],
  ['0.001', 1_000_000n],
  ['0.0005k', 500_000_000n],
  ['0.005', 5_000_000n],
  ['0.05', 50_000_000n],
  ['0.5', 500_000_000n],
  ['0.00050k', 500_000_000n],
  ['0.00500', 5_000_000n],
  ['0.05000', 50_000_000n],
  ['0.50000', 500_000_000n],
  ['0.5e0', 500_000_000n],
  ['0.5e-1', 50_000_000n],
  ['0.5e-2', 5_000_000n],
  ['10.035M', 10_035_000_000_000_000n],
  ['1.2e3', 1_200_000_000_000n],
  ['1.3E+6', 1_300_000_000_000_000n],
  ['1.40e9', 1_400_000_000_000_000_000n],
  ['1.53E12', 1_530_000_000_000_000_000_000n],
  ['1.6e15', 1_600_000_000_000_000_000_000_000n],
  ['1.7E18', 1_700_000_000_000_000_000_000_000_000n],
  ['9.01', 9_010_000_000n],
  ['8.1k', 8_100_000_000_000n],
  ['7.123456M', 7_123_456_000_000_000n],
  ['6.987654321G', 6_987_654_321_000_000_000n],
  ['5.444T', 5_444_000_000_000_000_000_000n],
  ['40.1T', 40_100_000_000_000_000_000_000n],
  ['300.2T', 300_200_000_000_000_000_000_000n],
  ['2.5P', 2_500_000_000_000_000_000_000_000n],
  ['1.01E', 1_010_000_000_000_000_000_000_000_000n],
  ['3.001n', 4n],
  ['1.1E-9', 2n],
  ['0.0000000001', 1n],
  ['0.0000000005', 1n],
  ['0.00000000050', 1n],
  ['0.5e-9', 1n],
  ['0.9n', 1n],
  ['0.00000012345', 124n],
  ['0.00000012354', 124n],
  ['9Ei', 9_223_372_036_854_775_807_000_000_000n],
  ['9223372036854775807Ki', 9_223_372_036_854_775_807_000_000_000n],
  ['12E', 12_000_000_000_000_000_000_000_000_000n],
  ['100.035Ki', 102_435_840_000_000n],
  ['0.5Mi', 524_288_000_000_000n],
  ['0.05Gi', 53_687_091_200_000_000n],
  ['0.025Ti', 27_487_790_694_400_000_000n],
  ['0.000000000001Ki', 2n],
  ['.001', 1_000_000n],
  ['.0001k', 100_000_000n],
  ['1.', 1_000_000_000n],
  ['1.G', 1_000_000_000_000_000_000n],
];
// TestQuantityParseErr, and texts whose amount has no digits, which Go takes for 0.
const INVALID = [
  ...[
    '',
    '1.1.M',
    '1+1.0M',
    '0.1mi',
    '0.1am',
    'aoeu',
    '.5i',
    '1i',
    '-3.01i',
    '-3.01e-',
    ' 1',
    '1 ',
  ],
  ...[
    '.',
    '-',
    '+',
    'm',
    'Ki',
    '1e',
    '1ee3',
    '1ke3',
    '1Ki3',
    '1m3',
    '1e3m',
    '1\n',
    '0x10',
    'Infinity',
  ],
  ...['1__proto__', '1constructor', '1,5', '--1', '1e9999', `1${'0'.repeat(310)}`],
];

describe('quantities', () => {
  it.each(PARSED)('M14: %s is parsed exactly', (text, nanos) => {
    expect(parseQuantity(text).nanos).toBe(nanos);
    if (nanos > 0n) expect(parseQuantity(`-${text}`).nanos).toBe(-nanos);
    expect(parseQuantity(`+${text}`).nanos).toBe(nanos);
  });

  it.each(INVALID)('M14: %j is refused', (text) => {
    expect(() => parseQuantity(text)).toThrow(/^quantity: .* is not valid; /);
    expect(() => parseQuantity(text)).toThrow(TypeError);
  });

  it('M14: what is no text is refused, a number is taken as its text', () => {
    expect(parseQuantity(1.5).nanos).toBe(1_500_000_000n);
    expect(parseQuantity(1e21).value).toBe(1e21);
    for (const value of [undefined, null, {}, ['1'], Number.NaN, Infinity]) {
      expect(() => parseQuantity(value as never)).toThrow(TypeError);
    }
  });

  it('M14: a tiny amount is rounded away from 0, whatever its exponent', () => {
    const nanos = ['1e-999999999999', '-1e-400', '0e999999999999', '0.0000000010001'];
    expect(nanos.map((text) => parseQuantity(text).nanos)).toEqual([1n, -1n, 0n, 2n]);
  });

  it('M14: the value is the nearest number, and thousandths are rounded away from 0', () => {
    const shown = ({ value, milli }: ParsedQuantity) => [value, milli];
    expect(shown(parseQuantity('100m'))).toEqual([0.1, 100]);
    expect(shown(parseQuantity('-100m'))).toEqual([-0.1, -100]);
    expect(shown(parseQuantity('1n'))).toEqual([1e-9, 1]);
    expect(shown(parseQuantity('-1n'))).toEqual([-1e-9, -1]);
    expect(shown(parseQuantity('1500100u'))).toEqual([1.5001, 1501]);
    expect(shown(parseQuantity('8Ei'))).toEqual([2 ** 63, 2 ** 63 * 1000]);
    expect(shown(parseQuantity('0'))).toEqual([0, 0]);
    const amount = fc.tuple(fc.maxSafeNat(), fc.integer({ min: -9, max: 18 }));
    fc.assert(
      fc.property(amount, ([digits, power]) => {
        expect(parseQuantity(`${digits}e${power}`).value).toBe(Number(`${digits}e${power}`));
      }),
    );
  });

  it('M14: any text is parsed as a number or refused', () => {
    const text = fc.string({ unit: fc.constantFrom(...'+-.019eEinumkKMGTP'), maxLength: 8 });
    fc.assert(
      fc.property(text, (each) => {
        const form = /^[+-]?(\d+\.?\d*|\.\d+)([numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?$/;
        let isParsed = true;
        try {
          parseQuantity(each);
        } catch (error) {
          expect(error).toBeInstanceOf(TypeError);
          isParsed = /too large/.test(String(error));
        }
        expect(isParsed).toBe(form.test(each));
      }),
      { numRuns: 2000 },
    );
  });
});

describe('the requests of a pod', () => {
  it.each(CASES)('M16: $test, $name', ({ pod, useStatus, expected }) => {
    const { cpu, memory, ...others } = podRequests(pod as RequestingPod, { useStatus });
    const wanted = expected as Partial<Record<string, string>>;
    expect(cpu.nanos).toBe(parseQuantity(wanted['cpu'] ?? '0').nanos);
    expect(memory.nanos).toBe(parseQuantity(wanted['memory'] ?? '0').nanos);
    const names = Object.keys(wanted).filter((name) => name !== 'cpu' && name !== 'memory');
    expect(Object.keys(others).sort()).toEqual(names.sort());
    for (const name of names) {
      expect(others[name]?.nanos).toBe(parseQuantity(wanted[name] as string).nanos);
    }
  });

  it('M16: only containers and sidecars are resized, and by default', () => {
    const web = { name: 'web', resources: { requests: { cpu: '1' } } };
    const state = { name: 'web', resources: { requests: { cpu: '3' } } };
    const cores = (pod: RequestingPod) => podRequests(pod).cpu.value;
    expect(cores({ spec: { containers: [web] }, status: { containerStatuses: [state] } })).toBe(3);
    const init = { spec: { initContainers: [web] }, status: { initContainerStatuses: [state] } };
    expect(cores(init)).toBe(1);
    const sidecar = { ...web, restartPolicy: 'Always' };
    expect(cores({ ...init, spec: { initContainers: [sidecar] } })).toBe(3);
    expect(cores({})).toBe(0);
  });

  it('M14: refuses a text of more than 1,000 characters, and does not quote it', () => {
    expect(parseQuantity(`0.${'9'.repeat(998)}`).value).toBe(1);
    expect(() => parseQuantity(`0.${'9'.repeat(1_000_000)}Ki`)).toThrow(
      /^quantity: "0\.9{38}" is not valid; it has more than 1000 characters$/,
    );
  });

  it('M16: a pod of the generated types is a pod, and an invalid quantity throws', () => {
    const pod = { metadata: { name: 'web' }, spec: { containers: [] } } as unknown as Pod;
    expect(podRequests(pod).memory.value).toBe(0);
    const broken = { spec: { containers: [{ resources: { requests: { cpu: 'many' } } }] } };
    expect(() => podRequests(broken)).toThrow(/^quantity: "many" is not valid/);
  });
});
