/** Turns the README's examples into programs of a consumer: modules, CommonJS, and functions for bundlers. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'esbuild';
import { fencesOf, programOf } from '../support/extract-examples.ts';

const README = fileURLToPath(new URL('../../README.md', import.meta.url));

/** One example of the README. */
export interface Program {
  /** `readme-` and the line in the README, for example `readme-12`. */
  readonly name: string;
  /** Examples that need a cluster are type-checked only. */
  readonly runs: boolean;
  /** TypeScript with top-level `await`. */
  readonly module: string;
  /**
   * TypeScript that exports everything except the imports as `main()`, because some bundlers refuse top-level
   * `await`.
   */
  readonly asFunction: string;
  /** JavaScript that begins with `require()`. */
  readonly commonJs: string;
}

const EXPECT = `
const expect = (actual: unknown) => ({
  toEqual(expected: unknown) {
    const [is, ought] = [JSON.stringify(actual), JSON.stringify(expected)];
    if (is !== ought) throw new Error(\`\${is} instead of \${ought}\`);
  },
});
`;

export function readmePrograms(): Program[] {
  return fencesOf(readFileSync(README, 'utf8'), false).map((fence) => {
    const { imports, body } = programOf(fence, `README.md:${fence.line}`);
    const head = `${imports.join('\n')}\n${/\bexpect\(/.test(body) ? EXPECT : ''}`;
    const asFunction = `${head}\nexport async function main() {\n${body}\n}\n`;
    const script = `${asFunction}void main();\n`;
    return {
      name: `readme-${fence.line}`,
      runs: fence.runs,
      module: `${head}\n${body}\nexport {};\n`,
      asFunction,
      commonJs: transformSync(script, { loader: 'ts', format: 'cjs', target: 'es2023' }).code,
    };
  });
}
