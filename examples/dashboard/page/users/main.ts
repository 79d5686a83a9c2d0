/** Starts the page where users sign in: the rest of it is loaded when somebody has. */
import '../mantine.css';
import '../page.css';
import { connectServer } from 'rx-informer/server';
import { forgetToken, signedIn } from './sign-in.tsx';

// Without a top-level await, for which the parts that this module shares with the rest would wait, too.
void signedIn().then(({ name, token }) => {
  const credentials = () => ({ token });
  const cluster = connectServer({ url: '/queries', identity: name, credentials });
  const signOut = () => {
    forgetToken();
    location.reload();
  };
  // The token has ended.
  cluster.connection$.subscribe(({ phase }) => {
    if (phase === 'signed-out') signOut();
  });
  const user = { name, cluster, signOut, headers: { authorization: `Bearer ${token}` } };
  return import('../render-page.tsx').then(({ renderPage }) => renderPage(user));
});
