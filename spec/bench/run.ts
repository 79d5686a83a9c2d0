/**
 * `npm run bench` compares the complete pipe with other informers, `npm run bench -- query` measures live queries,
 * `npm run bench -- queue` work queues, `npm run bench -- warm` warm starts, `npm run bench -- pod` a client in a pod,
 * `npm run bench -- readers` what readers cost a kube-apiserver and a nats-server, and `npm run bench -- users` a server of users.
 * All of it measures what users install: the built library, as a production program.
 */
process.env.NODE_ENV ??= 'production';

if (process.argv[2] === 'query') await import('./query/run.ts');
else if (process.argv[2] === 'queue') await import('./queue/run.ts');
else if (process.argv[2] === 'warm') await import('./warm/run.ts');
else if (process.argv[2] === 'pod') await import('./pod/run.ts');
else if (process.argv[2] === 'users') await import('./users/run.ts');
else if (process.argv[2] === 'readers') await import('./readers.ts');
else await import('./whole-pipe.ts');
