/** The settings of the page, which the server has written into it. */
import { settingsOf } from '../../shared/settings.ts';

const { content = '' } = document.querySelector<HTMLMetaElement>('meta[name="settings"]') ?? {
  content: '',
};

/** The settings as text: the identity of the page in its worker. */
export const identity = decodeURIComponent(content);

export const settings = settingsOf(identity);

const element = document.getElementById('root');
if (element === null) throw new Error('index.html has no #root');

/** Where the page is rendered. */
export const root = element;

/** The page allows only styles that carry the nonce of this response. */
export const nonce =
  document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? '';

/** The only namespace of the page, or '' for all. */
export const onlyNamespace = settings.namespace;
