import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { neededInProduction } from '../../src/app/config.ts'
import { settingNames } from '../../src/app/settings.ts'

interface Documented {
  readonly name: string
  /** The default as text. */
  readonly value: string
  /** The text about the setting. */
  readonly about: string
}

/** Reads the lines of `.env.example`. The comment above a group of lines is about all of them. */
function exampleSettings(): Documented[] {
  let comment: string[] = []
  let isAfterSetting = false
  return readFileSync('.env.example', 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, name, value = ''] = /^([A-Z_]+)=(.*)$/.exec(line) ?? []
      if (name === undefined) {
        if (isAfterSetting) comment = []
        comment.push(line)
      }
      isAfterSetting = name !== undefined
      return name === undefined ? [] : { name, value, about: comment.join(' ') }
    })
}

const codes = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)

/** The settings in the table of docs/settings.md. */
function pageSettings(): Documented[] {
  const page = readFileSync('docs/settings.md', 'utf8')
  return page.split('\n').flatMap((line) => {
    const [, names, value = ''] = /^\| (`[A-Z_]+`[^|]*) \| ([^|]*) \|/.exec(line) ?? []
    return codes(names ?? '').map((name) => ({ name, value, about: value }))
  })
}

/** Settings that only some installations require. */
const sometimesNeeded = ['MICROSOFT_APP_PASSWORD', 'DATABASE_URL', 'DATA_DIR']

describe.each([
  ['.env.example', exampleSettings()],
  ['docs/settings.md', pageSettings()],
] as const)('the settings in %s', (_, documented) => {
  it('are the settings of the code', () => {
    expect(documented.map(({ name }) => name).toSorted()).toEqual([...settingNames].toSorted())
  })

  it('mark the settings that the code requires in production', () => {
    const named = documented
      .filter(({ about }) => /(?:needed|required) in production/i.test(about))
      .map(({ name }) => name)
    const always = named.filter((name) => !sometimesNeeded.includes(name))
    expect(always.toSorted()).toEqual([...neededInProduction].toSorted())
  })
})

it('docs/settings.md has the defaults of .env.example', () => {
  const page = new Map(pageSettings().map(({ name, value }) => [name, codes(value)]))
  const differing = exampleSettings().filter(({ name, value }) => value !== '' && !page.get(name)?.includes(value))
  expect(differing).toEqual([])
})
