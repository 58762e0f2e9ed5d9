/** Returns an object with the parts that a test expects. The use of any other part fails with its name. */
export function loud(name: string, parts: object): object {
  return new Proxy(parts, {
    get(target, property) {
      if (typeof property === 'symbol' || property === 'then') return undefined
      const part: unknown = Reflect.get(target, property)
      if (part === undefined) throw new Error(`nobody expected ${name}.${property} to be called`)
      return typeof part === 'object' && part !== null && property !== 'settings'
        ? loud(`${name}.${property}`, part)
        : part
    },
  })
}
