/** Runs typedoc over entries of the package, and returns its pages as texts with what they describe. */
import { rmSync } from 'node:fs';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import {
  Application,
  type Comment,
  type DeclarationReflection,
  type ProjectReflection,
  ReflectionKind,
  type TypeDocOptions,
} from 'typedoc';
import { MarkdownPageEvent } from 'typedoc-plugin-markdown';
import { firstSentence } from '../pages/first-sentence.ts';

/** One page of typedoc. */
export interface ApiPage {
  /** Where typedoc wrote the page, with the links of the text relative to it. */
  readonly file: string;
  readonly text: string;
  /** Absent for the page of a module. */
  readonly name?: string;
  readonly kind: string;
  /** The file that declares the name, or the module itself, below the root. */
  readonly source: string;
  /** The source of the module that exports the name. */
  readonly module: string;
  /** The first sentence. */
  readonly summary: string;
}

/** A name that a module exports, and the page of typedoc that has it. */
export interface ApiExport {
  readonly module: string;
  readonly name: string;
  readonly file: string;
}

export interface Api {
  readonly pages: readonly ApiPage[];
  readonly exports: readonly ApiExport[];
  /** Links in comments that lead nowhere. */
  readonly deadLinks: readonly string[];
}

function commentOf(reflection: DeclarationReflection): Comment | undefined {
  return reflection.comment ?? reflection.signatures?.[0]?.comment;
}

function summaryOf(reflection: DeclarationReflection): string {
  const parts = commentOf(reflection)?.summary ?? [];
  return firstSentence(
    parts.map((part) => (part.kind === 'inline-tag' ? `\`${part.text}\`` : part.text)).join(''),
  );
}

function moduleOf(reflection: DeclarationReflection): DeclarationReflection {
  let at = reflection;
  while (at.kind !== ReflectionKind.Module && at.parent !== undefined) {
    at = at.parent as DeclarationReflection;
  }
  return at;
}

/** Runs typedoc over the entries, with further options. `out` is a folder for its own use. */
export async function runTypedoc(
  root: string,
  out: string,
  options: Partial<TypeDocOptions> & Readonly<Record<string, unknown>>,
): Promise<Api> {
  rmSync(out, { recursive: true, force: true });
  const deadLinks: string[] = [];
  const app = await Application.bootstrapWithPlugins({
    plugin: ['typedoc-plugin-markdown'],
    tsconfig: `${root}lib/tsconfig.json`,
    outputs: [{ name: 'markdown', path: out }],
    readme: 'none',
    disableGit: true,
    sourceLinkTemplate: '{path}',
    // The members of RxJS's Observable are described there; a type of immer is exported under its own name.
    excludeExternals: true,
    externalPattern: ['**/node_modules/{rxjs,typescript,@types}/**'],
    excludePrivate: true,
    hidePageHeader: true,
    hideBreadcrumbs: true,
    useCodeBlocks: true,
    expandParameters: true,
    validation: { notExported: false, invalidLink: true, rewrittenLink: false },
    logLevel: 'Warn',
    ...options,
  } as Partial<TypeDocOptions>);
  const { logger } = app;
  const log = logger.log.bind(logger);
  logger.log = (message, level) => {
    if (/Failed to resolve link/.test(message)) deadLinks.push(stripVTControlCharacters(message));
    else log(message, level);
  };
  const project = await app.convert();
  if (project === undefined)
    throw new Error('typedoc could not read the sources; its messages are above');
  app.validate(project);
  const pages: ApiPage[] = [];
  app.renderer.on(MarkdownPageEvent.END, (page) => {
    const model = page.model as DeclarationReflection;
    if (model.kind === ReflectionKind.Project || page.contents === undefined) return;
    const sourceOf = (of: DeclarationReflection) =>
      relative(root, of.sources?.[0]?.fullFileName ?? '');
    const isModule = model.kind === ReflectionKind.Module;
    pages.push({
      file: page.url,
      text: page.contents,
      ...(isModule ? {} : { name: model.name }),
      kind: ReflectionKind.singularString(model.kind),
      source: sourceOf(model),
      module: sourceOf(moduleOf(model)),
      summary: summaryOf(model),
    });
  });
  await app.generateOutputs(project);
  return { pages, exports: exportsOf(root, project, pages), deadLinks };
}

/** The exports of each module. An export of a name that another module has, too, shares its page. */
function exportsOf(
  root: string,
  project: ProjectReflection,
  pages: readonly ApiPage[],
): ApiExport[] {
  const fileOf = new Map(pages.map((page) => [`${page.module} ${page.name}`, page.file]));
  const modules = project.getChildrenByKind(ReflectionKind.Module);
  return modules.flatMap((module) => {
    const from = relative(root, module.sources?.[0]?.fullFileName ?? '');
    return (module.children ?? []).map((child) => {
      const target = child.isReference() ? child.getTargetReflectionDeep() : child;
      const owner = moduleOf(target as DeclarationReflection).sources?.[0]?.fullFileName ?? '';
      const file = fileOf.get(`${relative(root, owner)} ${target.name}`) ?? '';
      return { module: from, name: child.name, file };
    });
  });
}
