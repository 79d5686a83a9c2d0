/** `npm run bench` compares the complete pipe with other informers, `npm run bench -- query` measures live queries. */
if (process.argv[2] === 'query') await import('./query/run.ts');
else await import('./whole-pipe.ts');
