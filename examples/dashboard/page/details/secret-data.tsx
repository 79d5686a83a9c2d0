/** What a Secret contains. It is read when the user asks for it, and forgotten when it is hidden or the details are closed. */
import { Alert, Button } from '@mantine/core';
import { useState } from 'react';
import { ApiError, type KubernetesObject, type Stored } from 'rx-informer';
import type { Secret } from 'rx-informer/resources';
import { client } from '../cluster/cluster.ts';
import { errorWords } from '../cluster/error-words.ts';
import classes from './details.module.css';
import { Pairs } from './pairs.tsx';

/** A value as text; a certificate or an archive may be none. */
function textIn(base64: string): string {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return `${bytes.length} bytes that are no text`;
  }
}

export const OnlyMetadata = () => (
  <p className={classes.note}>
    Only the metadata is read, because the contents may include passwords.
  </p>
);

export function SecretData({ object }: { readonly object: Stored<KubernetesObject> }) {
  const { name, namespace } = object.metadata;
  const [data, setData] = useState<Readonly<Record<string, string>>>();
  const [problem, setProblem] = useState('');
  const reveal = async () => {
    try {
      const path = `/api/v1/namespaces/${namespace}/secrets/${name}`;
      setData((await client.request<Secret>({ path })).data ?? {});
      setProblem('');
    } catch (error) {
      setProblem(errorWords(ApiError.from(error, 'The Secret')));
    }
  };
  const values = Object.entries(data ?? {}).map(([key, value]) => [key, textIn(value)]);
  return (
    <>
      {problem !== '' && (
        <Alert color="orange" title="Not read">
          {problem}
        </Alert>
      )}
      {data === undefined ? (
        <OnlyMetadata />
      ) : (
        <Pairs title="Data" pairs={Object.fromEntries(values)} />
      )}
      <Button
        size="compact-xs"
        variant="default"
        mb="md"
        className={classes.reveal}
        onClick={() => (data === undefined ? void reveal() : setData(undefined))}
      >
        {data === undefined ? 'Reveal the data' : 'Hide the data'}
      </Button>
    </>
  );
}
