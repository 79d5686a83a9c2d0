/** The configuration of VitePress. `run.ts` writes the pages and their navigation before VitePress reads this file. */
import { readFileSync } from 'node:fs';
import { defineConfig, type MarkdownEnv, type MarkdownRenderer } from 'vitepress';
import type { Navigation } from '../pages/navigation.ts';

const { nav, sidebar } = JSON.parse(
  readFileSync(new URL('../.cache/navigation.json', import.meta.url), 'utf8'),
) as Navigation;

/**
 * What the search finds of a page: all of a guide, the name, the description and the members of an exported name, and the titles of
 * resources and sources. The complete text of the reference would be an index of 4 MB.
 */
function searched(text: string, env: MarkdownEnv, md: MarkdownRenderer): Promise<string> {
  const path = env.relativePath;
  const isSource = path.startsWith('examples/') && path.includes('.ts');
  if (isSource) return md.renderAsync(text.slice(0, text.indexOf('```')), env);
  if (!path.startsWith('reference/api/')) return md.renderAsync(text, env);
  const [lead = '', ...rest] = text.split(/^## /m);
  const members = rest.join('').match(/^### .*$/gm) ?? [];
  return md.renderAsync([lead, ...members].join('\n\n'), env);
}

export default defineConfig({
  title: 'rx-informer',
  description: 'A Kubernetes informer made of streams',
  lang: 'en',
  srcDir: '.cache/pages',
  outDir: 'dist',
  cacheDir: '.cache/vitepress',
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    // Without a grammar of their own here.
    languageAlias: { haproxy: 'text' },
    config: (md) => {
      md.core.ruler.push('site', ({ tokens }) => {
        tokens.forEach(({ type, content, children }, at) => {
          // A cell without a text is no header for a screen reader.
          const [open, close] = [tokens[at - 1], tokens[at + 1]];
          if (type === 'inline' && content === '' && open?.type === 'th_open' && close) {
            open.tag = close.tag = 'td';
          }
          // Vue must not read braces in code as its own.
          for (const child of children ?? []) {
            if (child.type === 'code_inline') child.attrSet('v-pre', '');
            // VitePress takes the label of an anchor from the source of the heading, and escapes it again.
            const label = child.attrGet('aria-label')?.replaceAll('&lt;', '<');
            if (label !== undefined) child.attrSet('aria-label', label.replaceAll('&gt;', '>'));
          }
        });
      });
    },
  },
  themeConfig: {
    nav,
    sidebar,
    outline: [2, 3],
    search: { provider: 'local', options: { _render: searched } },
    docFooter: { prev: false, next: false },
  },
});
