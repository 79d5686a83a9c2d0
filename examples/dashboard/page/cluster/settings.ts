/** The settings of the page, which the server has written into it. */
import { settingsOf } from '../../shared/settings.ts';

const { content = '' } = document.querySelector<HTMLMetaElement>('meta[name="settings"]') ?? {
  content: '',
};

/** The settings as text: the identity of the page in its worker. */
export const identity = decodeURIComponent(content);

export const settings = settingsOf(identity);

/** The only namespace of the page, or '' for all. */
export const onlyNamespace = settings.namespace;
