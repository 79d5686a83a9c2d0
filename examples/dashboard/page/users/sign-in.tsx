/** The sign-in with a token, before the page begins. */
import { Alert, Button, Center, Paper, PasswordInput, Stack, Text, Title } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { root } from '../cluster/settings.ts';
import { Themed } from '../theme.tsx';

export interface SignedIn {
  readonly name: string;
  readonly token: string;
}

/** For this tab, until it is closed or the user signs out. */
const KEY = 'rx-informer token';

export function forgetToken(): void {
  sessionStorage.removeItem(KEY);
}

/** The user of a token. Rejects with a sentence if it is of nobody. */
async function userOf(token: string): Promise<SignedIn> {
  const answer = await fetch('/dashboard/user', { headers: { authorization: `Bearer ${token}` } });
  if (answer.ok) return { ...((await answer.json()) as { name: string }), token };
  throw new Error(await answer.text());
}

/** Resolves when somebody has signed in. */
export async function signedIn(): Promise<SignedIn> {
  const known = sessionStorage.getItem(KEY);
  const before = known === null ? undefined : await userOf(known).catch(() => undefined);
  if (before !== undefined) return before;
  const shown = createRoot(root);
  const user = await new Promise<SignedIn>((resolve) => {
    shown.render(
      <Themed>
        <SignInForm onUser={resolve} />
      </Themed>,
    );
  });
  shown.unmount();
  sessionStorage.setItem(KEY, user.token);
  return user;
}

function SignInForm({ onUser }: { readonly onUser: (user: SignedIn) => void }) {
  const [token, setToken] = useState('');
  const [problem, setProblem] = useState('');
  const [isAsking, setAsking] = useState(false);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setAsking(true);
    userOf(token.trim())
      .then(onUser, ({ message }: Error) => setProblem(message))
      .finally(() => setAsking(false));
  };
  return (
    <Center mih="100dvh" p="md">
      <Paper component="main" withBorder p="xl" w="100%" maw={400}>
        <form onSubmit={submit}>
          <Stack>
            <Title order={1} size="h3">
              Sign in
            </Title>
            <Text size="sm">The API server decides by your token what you see and may change.</Text>
            <PasswordInput
              label="Token"
              autoComplete="off"
              required
              data-autofocus
              value={token}
              onChange={({ currentTarget }) => setToken(currentTarget.value)}
            />
            {problem !== '' && (
              <Alert color="red" role="alert">
                {problem}
              </Alert>
            )}
            <Button type="submit" loading={isAsking}>
              Sign in
            </Button>
          </Stack>
        </form>
      </Paper>
    </Center>
  );
}
