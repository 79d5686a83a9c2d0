/** A webpack loader that removes types with esbuild. It leaves the addresses of workers as they are written. */
const { transform } = require('esbuild');

module.exports = function typescriptLoader(text) {
  const done = this.async();
  const loader = this.resourcePath.endsWith('x') ? 'tsx' : 'ts';
  transform(text, { loader, jsx: 'automatic', target: 'es2023' }).then(
    ({ code }) => done(null, code),
    done,
  );
};
