/** The names of everything that setup creates. A second installation in the same tenant has an instance name. */
export interface Names {
  readonly instance: string
  /** The alternate key of a registration or group: `quartermaster-bot`, `quartermaster-test-bot`. */
  key(part: string): string
  /** The name that people see: `Quartermaster bot`, `Quartermaster bot (test)`. */
  title(part: string): string
}

export const namesOf = (instance: string): Names => ({
  instance,
  key: (part) => (instance === '' ? `quartermaster-${part}` : `quartermaster-${instance}-${part}`),
  title: (part) => (instance === '' ? `Quartermaster ${part}` : `Quartermaster ${part} (${instance})`),
})

/** Instance names are part of keys and mail nicknames. */
export const isInstance = (text: string): boolean => /^[a-z0-9]([a-z0-9-]{0,18}[a-z0-9])?$/.test(text)
