/**
 * Binds methods to their object, so that a caller may destructure them: `const { get, list } = lister`.
 */

/**
 * Binds the methods that an object inherits from its classes. Called at the end of the constructor of the base class.
 */
export function bindMethods(object: object): void {
  for (
    let prototype = Object.getPrototypeOf(object);
    prototype !== Object.prototype;
    prototype = Object.getPrototypeOf(prototype)
  ) {
    for (const name of Reflect.ownKeys(prototype)) {
      const { value } = Object.getOwnPropertyDescriptor(prototype, name) ?? {};
      if (typeof value !== 'function' || Object.hasOwn(object, name) || name === 'constructor') {
        continue;
      }
      Object.defineProperty(object, name, {
        value: value.bind(object),
        configurable: true,
        writable: true,
      });
    }
  }
}
