/** The parts of something that a test expects to be used; any other fails loudly, by its name. */
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
