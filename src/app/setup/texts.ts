import strings from './strings.json' with { type: 'json' }

/** All texts that people read in setup. */
export const texts = strings

/** Fills in the placeholders of a text: `{name}`. */
export const fill = (text: string, values: Readonly<Record<string, string | number>>): string =>
  text.replace(/\{(\w+)\}/g, (blank, name: string) => String(values[name] ?? blank))
