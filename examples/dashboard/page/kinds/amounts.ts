/** Amounts of CPU and memory in words, with the same units on the whole page: `0.25 CPU`, `2 GiB`. */
import { parseQuantity } from 'rx-informer';

const fine = new Intl.NumberFormat('en-US', { maximumFractionDigits: 3 });
const coarse = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });

/** A number with as many digits as its size needs. */
const digits = (value: number) => (value < 10 ? fine : coarse).format(value);

interface Amount {
  readonly text: string;
  readonly unit: string;
}

function ofCpu(milli: number): Amount {
  return { text: digits(milli / 1000), unit: 'CPU' };
}

const powers: Readonly<Record<string, number>> = { GiB: 30, MiB: 20, KiB: 10 };

function ofBytes(bytes: number): Amount {
  const unit = bytes >= 2 ** 30 ? 'GiB' : bytes >= 2 ** 20 ? 'MiB' : 'KiB';
  return { text: coarse.format(bytes / 2 ** (powers[unit] ?? 0)), unit };
}

function amountOf(resource: string, quantity: string | number): Amount {
  const { milli, value } = parseQuantity(quantity);
  if (/(^|\.)cpu$/.test(resource)) return ofCpu(milli);
  if (/(^|[.-])(memory|storage)$/.test(resource)) return ofBytes(value);
  return { text: String(quantity), unit: '' };
}

const joined = ({ text, unit }: Amount) => (unit === '' ? text : `${text} ${unit}`);

/** An amount of CPU: `20 CPU`. */
export const cpuText = (milli: number): string => joined(ofCpu(milli));

/** An amount of memory or storage: `2 GiB`. */
export const bytesText = (bytes: number): string => joined(ofBytes(bytes));

/** What is used of a limit: `3 of 8 CPU`, `512 MiB of 2 GiB`. */
function usedOf(used: Amount, limit: Amount): string {
  const isSame = used.unit === limit.unit || used.text === '0';
  return `${isSame ? used.text : joined(used)} of ${joined(limit)}`;
}

export const cpuOf = (usedMilli: number, limitMilli: number): string =>
  usedOf(ofCpu(usedMilli), ofCpu(limitMilli));

export const bytesOf = (used: number, limit: number): string =>
  usedOf(ofBytes(used), ofBytes(limit));

/** The same without the unit of CPU, which the column names; without a limit only what is used. */
export const plainCpuOf = (usedMilli: number, limitMilli: number): string =>
  limitMilli === 0
    ? ofCpu(usedMilli).text
    : `${ofCpu(usedMilli).text} of ${ofCpu(limitMilli).text}`;

/** In the unit of the limit, which is shorter than two units. */
export function plainBytesOf(used: number, limit: number): string {
  if (limit === 0) return bytesText(used);
  const { text, unit } = ofBytes(limit);
  const inUnit = used / 2 ** (powers[unit] ?? 0);
  return `${coarse.format(Number(inUnit.toPrecision(3)))} of ${text} ${unit}`;
}

/** What is used of a limit of a quota, by the name of its resource, such as `requests.cpu`. */
export function quantityOf(
  resource: string,
  used: string | number,
  limit: string | number,
): string {
  return usedOf(amountOf(resource, used), amountOf(resource, limit));
}

/** The amounts of a container or of a node: `20 CPU, 2 GiB memory, 1 nvidia.com/gpu`. Amounts of 0 are left out. */
export function amountsText(amounts: Readonly<Record<string, string | number>> = {}): string {
  return Object.entries(amounts)
    .filter(([, quantity]) => parseQuantity(quantity).milli !== 0)
    .map(([resource, quantity]) => {
      const text = joined(amountOf(resource, quantity));
      return resource === 'cpu' ? text : `${text} ${resource}`;
    })
    .join(', ');
}
