/** The data of a Secret or a ConfigMap, which is read when the user asks for it, and forgotten when it is hidden or the details are closed. */
import { Alert, Button } from '@mantine/core';
import { useState } from 'react';
import { ApiError } from 'rx-informer';
import type { ConfigMap, Secret } from 'rx-informer/resources';
import { client } from '../cluster/cluster.ts';
import { errorWords } from '../cluster/error-words.ts';
import classes from './details.module.css';
import { Pairs } from './pairs.tsx';
import type { ObjectProps } from './use-pods.ts';

/** A value as text; a certificate or an archive may be none. */
function textIn(base64: string): string {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return `${bytes.length} bytes that are no text`;
  }
}

type Contents = Readonly<Record<string, string>>;

function contentsOf(isSecret: boolean, object: Secret & ConfigMap): Contents {
  const { data = {}, binaryData = {} } = object;
  const encoded = Object.entries(isSecret ? data : binaryData);
  const decoded = encoded.map(([key, value]) => [key, textIn(value)]);
  return { ...(isSecret ? {} : data), ...Object.fromEntries(decoded) };
}

export function HiddenData({ kind, object }: ObjectProps) {
  const { name, namespace } = object.metadata;
  const { kind: called, plural } = kind.resource;
  const [contents, setContents] = useState<Contents>();
  const [problem, setProblem] = useState('');
  const reveal = async () => {
    try {
      const path = `/api/v1/namespaces/${namespace}/${plural}/${name}`;
      const read = await client.request<Secret & ConfigMap>({ path });
      setContents(contentsOf(called === 'Secret', read));
      setProblem('');
    } catch (error) {
      setProblem(errorWords(ApiError.from(error, `The ${called}`)));
    }
  };
  return (
    <>
      {problem !== '' && (
        <Alert color="orange" title="Not read">
          {problem}
        </Alert>
      )}
      {contents === undefined ? (
        <p className={classes.note}>
          Only the metadata is read, because the contents may include passwords.
        </p>
      ) : (
        <Pairs title="Data" pairs={contents} />
      )}
      <Button
        size="compact-xs"
        variant="default"
        mb="md"
        className={classes.reveal}
        onClick={() => (contents === undefined ? void reveal() : setContents(undefined))}
      >
        {contents === undefined ? 'Reveal the data' : 'Hide the data'}
      </Button>
    </>
  );
}
